"""The command `copy`; it imports what it needs."""

from __future__ import annotations

import sys

import click

from pinfold.server.options import JSON, Command, going_on_later


@click.command(cls=Command)
@click.argument("source")
@click.argument("destination")
@click.option("--join", "joins", is_flag=True, help="Also where DESTINATION holds another log; see above.")
@click.option("--dry-run", "looks", is_flag=True, help="Say what would be copied and change nothing.")
@click.option(
    "--no-verify", "verifies", is_flag=True, flag_value=False, default=True, help="Do not verify DESTINATION."
)
@JSON
def copy(source: str, destination: str, *, as_json: bool, **wish: bool) -> None:
    """Copy a store into another one, of whichever kind: event for event, with all bytes, under the same pointers.

    Each of them is the folder of a store, a project's folder, or an address: postgresql://HOST/DATABASE#PROJECT or
    https://HOST/p/PROJECT. SOURCE is only read. Where DESTINATION is the beginning of SOURCE, because a copy was
    interrupted or SOURCE has grown, it goes on from there. At the end DESTINATION is verified, which takes about as
    long again and, for a folder, room for a second copy among the temporary files.

    --join tells what stands only in SOURCE to a DESTINATION that has a log of its own: sessions, messages, pins,
    artifacts, checkpoints and folds, each once, however often it is done. They get new pointers there, which are
    listed. Searches are left out, and pointers that somebody wrote into a text stay as they are.
    """
    from pinfold.server.commands.copy_report import Wish, copy_report
    from pinfold.server.commands.tables import tell

    with going_on_later("what was copied", as_json=as_json):
        report, is_well = copy_report(source, destination, Wish(**wish))
    tell(report, as_json=as_json)
    if not is_well:
        sys.exit(1)
