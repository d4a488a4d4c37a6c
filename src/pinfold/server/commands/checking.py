"""The commands `doctor`, `verify` and `rebuild`; each imports what it needs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pinfold.server.options import JSON, PROJECT, Command, settings_of
from pinfold.store.errors import InvalidInputError

if TYPE_CHECKING:
    from pinfold.store.values import Receipt


@click.command(cls=Command)
@PROJECT
@JSON
def doctor(project: Path | None, *, as_json: bool) -> None:
    """Look at everything that can be wrong with this installation and this project's store. Changes nothing.

    Each line is ok, warn or bad, with what to do next. Exit status 1 when something is bad. It looks for a few
    seconds at most: `pinfold verify` looks at all of the store.
    """
    from pinfold.server.commands.doctor_report import doctor_report
    from pinfold.server.commands.tables import tell

    report, is_well = doctor_report(settings_of(project))
    tell(report, as_json=as_json)
    if not is_well:
        sys.exit(1)


def _read_receipts(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> list[Receipt]:
    from pinfold.store.values import Receipt

    try:
        return [Receipt.read(text) for text in texts]
    except InvalidInputError as error:
        raise click.BadParameter(str(error)) from None


@click.command(cls=Command)
@PROJECT
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    callback=_read_receipts,
    help="A receipt that must hold, e.g. 42:9f31c2aa07d4; repeatable.",
)
@JSON
def verify(project: Path | None, receipts: list[Receipt], *, as_json: bool) -> None:
    """Check the log's chain, the views and the index against it, and every artifact. Changes nothing.

    It works on a copy, for which there must be room among the temporary files (TMPDIR), and holds nobody up. Only a
    receipt can show that the log's end was cut off: writes are acknowledged with one.
    """
    from pinfold.server.commands.progress import bar
    from pinfold.server.commands.reports import verify_report

    with bar("verify") as progress:
        text, ok = verify_report(settings_of(project), progress, receipts, as_json=as_json)
    click.echo(text)
    if not ok:
        sys.exit(1)


@click.command(cls=Command)
@PROJECT
@click.option("--dry-run", is_flag=True, help="Say what differs from the log and change nothing.")
@JSON
def rebuild(project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Derive all views and the search index anew from the log, in one step.

    Until it is done, agents read what was there; one that writes meanwhile is told to try again.
    """
    from pinfold.server.commands.progress import bar
    from pinfold.server.commands.reports import rebuild_report, stale_report

    report = stale_report if dry_run else rebuild_report
    with bar("rebuild") as progress:
        text = report(settings_of(project), progress, as_json=as_json)
    click.echo(text)
