"""The commands `backup` and `restore`; each imports what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pinfold.server.options import JSON, PROJECT, Command, asking_first, settings_of

if TYPE_CHECKING:
    from pinfold.server.commands.consent import Mode


@click.command(cls=Command)
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@click.option("--list", "is_listing", is_flag=True, help="List the backups there instead of making one.")
@PROJECT
@JSON
def backup(dest: Path | None, project: Path | None, *, is_listing: bool, as_json: bool) -> None:
    """Copy the project's store while it is in use, and verify the copy before it is called a backup.

    DEST is a folder, or a file that does not exist yet (default: the folder backups beside the store). Nothing that is
    there is replaced or deleted. In a pipe: file, newest event, size, schema, time (UTC); parted by tabs.
    """
    from pinfold.server.commands.backup_report import backup_report, list_report
    from pinfold.server.commands.tables import tell

    settings = settings_of(project)
    tell(list_report(settings, dest) if is_listing else backup_report(settings, dest), as_json=as_json)


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@PROJECT
@asking_first("Verify FILE, show what would change, and change nothing.")
@click.option("--anyway", is_flag=True, help="Also a backup of another project's store.")
@JSON
def restore(file: Path, project: Path | None, mode: Mode | None, *, anyway: bool, as_json: bool) -> None:
    """Put the backup FILE in the place of the project's store, once it is verified.

    Shows what would be lost and asks. The present state is backed up before; where it is missing or damaged, its files
    are moved into a folder set-aside-… beside it. Running servers go on with what was restored, except where files were
    moved: those are started anew.
    """
    from pinfold.server.commands.restore_report import restore_store

    restore_store(settings_of(project), file, mode, anyway=anyway, as_json=as_json)
