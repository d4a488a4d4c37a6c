"""The command `outbox`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pinfold.server.options import JSON, PROJECT, Command, settings_of


@click.command(cls=Command)
@PROJECT
@click.option("--send", is_flag=True, help="Send now what waits.")
@JSON
def outbox(project: Path | None, *, send: bool, as_json: bool) -> None:
    """List what hooks could not tell the team's server yet; each next hook sends some of it, and --send all.

    In a pipe: number, what, since when (UTC), bytes, whether the server refused it; parted by tabs, a line each.
    Exit status 1 when --send leaves something behind.
    """
    from pinfold.server.commands.outbox_report import outbox_report, send_report
    from pinfold.server.commands.progress import bar
    from pinfold.server.commands.tables import tell

    if not send:
        tell(outbox_report(settings_of(project)), as_json=as_json)
        return
    with bar("send") as progress:
        report, is_empty = send_report(settings_of(project), progress)
    tell(report, as_json=as_json)
    if not is_empty:
        sys.exit(1)
