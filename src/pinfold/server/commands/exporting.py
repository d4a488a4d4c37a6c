"""The command `export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pinfold.server.commands.session_names import number_of
from pinfold.server.options import JSON, PROJECT, Command, settings_of


def _session(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    number = number_of(text)
    if number is None:
        raise click.BadParameter("a session looks like s3")
    return number


@click.command(cls=Command)
@PROJECT
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    default="jsonl",
    show_default=True,
    help="For programs the whole log with all bytes, or for people the pins and conversations.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file (default: standard output)."
)
@click.option("--force", "overwrite", is_flag=True, help="Overwrite the file.")
@click.option("--session", callback=_session, help="Only this session, e.g. s3.")
@JSON
def export(project: Path | None, output: Path | None, *, as_json: bool, **more: Any) -> None:
    """Write all that the store holds where other programs can read it, or people.

    JSON lines: a header, then each event with its digests, and the bytes of artifacts as text or base64. What was
    forgotten is null. Anybody can check the chain: see docs/care.md. With --json, what was exported is told as an
    object, for which there has to be an --output. Exit status 1 when something was too damaged to be read.
    """
    from pinfold.server.commands.export_report import Choice, export_report
    from pinfold.server.commands.progress import bar

    if as_json and output is None:
        raise click.UsageError("--json needs an --output: standard output is the export's.")
    with bar("export") as progress:
        text, is_whole = export_report(
            settings_of(project), Choice(output=output, **more), progress, as_json=as_json
        )
    click.echo(text, err=output is None)
    if not is_whole:
        sys.exit(1)
