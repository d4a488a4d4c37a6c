"""The command `ui`; it imports what it needs."""

from __future__ import annotations

from pathlib import Path

import click

from pinfold.server.options import PROJECT, Amount, Command, settings_of

_IDLE_MINUTES = 60


@click.command(cls=Command)
@PROJECT
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="A fixed port (default: any that is free)."
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--idle",
    type=Amount(most=60 * 24 * 366),
    default=_IDLE_MINUTES,
    show_default=True,
    metavar="MINUTES",
    help="End after so long without a visit; 0: never.",
)
def ui(project: Path | None, port: int, idle: float, *, no_open: bool) -> None:
    """Look at the project's memory in a browser: pins, sessions, folds and what they lost, artifacts, search.

    The pages are served on this machine alone, at an address that only you are told: the first line printed. They only
    read, and nothing in them is loaded from elsewhere. Ctrl-C ends it.
    """
    from pinfold.server.ui.serving import Manner, serve

    serve(settings_of(project), Manner(port, idle * 60 or None, opens_browser=not no_open))
