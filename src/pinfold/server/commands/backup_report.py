"""What `pinfold backup` prints: the backup that was made, or those there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pinfold.context.visible import size_text
from pinfold.server.commands.among_stores import keep_out_of_stores
from pinfold.server.commands.listings import when
from pinfold.server.commands.progress import bar
from pinfold.server.commands.tables import Report
from pinfold.server.own_command import command_name, quoted
from pinfold.server.settings import Settings
from pinfold.store.errors import InvalidInputError
from pinfold.store.sqlite.backing_up import back_up
from pinfold.store.sqlite.backups import Backup, backups_in
from pinfold.store.sqlite.connection import Place

_COLUMNS = ("backup", "newest event", "size", "schema", "made (UTC)")


def backup_report(settings: Settings, dest: Path | None) -> Report:
    """Make a backup and return what it is.

    Raises `InvalidInputError` for a place among the stores but this one's own backups, and what `back_up` raises.
    """
    place = Place(settings.existing_store())
    keep_out_of_stores(settings, dest, but=place.backups)
    with bar("backup") as progress:
        made = back_up(place, dest and dest.absolute(), progress)
    facts = {"ok": True, "project": settings.project.name, **facts_of(made)}
    return Report(facts, _COLUMNS, [_row(made)], f"Verified. {restore_command(made)} puts it back.")


def list_report(settings: Settings, dest: Path | None) -> Report:
    """Return the backups in a folder (default: the store's own), the newest first; raises `InvalidInputError`."""
    if dest is not None and not dest.is_dir():
        raise InvalidInputError(f"{dest} is no folder.", "Name the folder that the backups lie in.")
    folder = dest.absolute() if dest else Place(settings.existing_store()).backups
    found = backups_in(folder)
    facts = {"project": settings.project.name, "folder": str(folder), "backups": list(map(facts_of, found))}
    return Report(facts, _COLUMNS, list(map(_row, found)), _remark(folder, found))


def _remark(folder: Path, found: Sequence[Backup]) -> str:
    return f"{restore_command(found[0])} puts the newest back." if found else f"No backups in {folder} yet."


def facts_of(backup: Backup) -> dict[str, Any]:
    """Return a backup as `--json` shows it."""
    return asdict(backup) | {"path": str(backup.path)}


def restore_command(backup: Backup) -> str:
    """Return what puts a backup back."""
    return f"{command_name()} restore {quoted(str(backup.path))}"


def _row(backup: Backup) -> tuple[str, ...]:
    return (
        str(backup.path),
        str(backup.seq),
        size_text(backup.size_bytes),
        str(backup.schema),
        when(backup.at),
    )
