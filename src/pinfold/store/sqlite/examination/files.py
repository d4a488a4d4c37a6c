"""What can be wrong with a store's folder and files before any of them is opened."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from pinfold.store.findings import Finding, bad, ok, privacy, tree, warn
from pinfold.store.sqlite import backups
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.filesystem import can_carry_wal, filesystem_type
from pinfold.store.sqlite.gate import holder_now

_MEBIBYTE = 1024 * 1024
_TIGHT_BYTES = 16 * _MEBIBYTE
_SPARE_BYTES = 256 * _MEBIBYTE
_LOG_AHEAD_BYTES = 64 * _MEBIBYTE
_LONG_HELD_S = 10
_OURS = {"log.db", "log.db-wal", "log.db-shm", "log.db-journal", "log.lock", "store-id", "backups"}
_SET_ASIDE = "set-aside-"
_OLD_BACKUP_DAYS = 30


def restoring(place: Place) -> str:
    """Return how a person gets the store back from its newest backup."""
    return f"`pinfold verify` names all of it; {backups.restoring(place.backups)}."


def _filesystem(place: Place) -> Finding:
    kind = filesystem_type(place.folder) or "of an unknown type"
    if can_carry_wal(place.folder):
        return ok("filesystem", kind)
    advice = "A folder on a local disk is faster and safer: PINFOLD_HOME."
    return warn("filesystem", f"{kind}, where locks and shared memory are known to fail", advice)


def _space(place: Place) -> Finding:
    free = shutil.disk_usage(place.folder).free
    size = place.database.stat().st_size if place.database.exists() else 0
    found = f"{free // _MEBIBYTE:,} MiB free"
    if free < _TIGHT_BYTES:
        return bad("space", found, "Free some space: soon nothing can be written.")
    if free < max(_SPARE_BYTES, 2 * size):
        return warn(
            "space", found, "Free some space: a backup, a scrub and `pinfold verify` need the store's size."
        )
    return ok("space", found)


def _permissions(place: Place) -> Finding:
    return privacy("permissions", tree(place.folder))


def _database(place: Place) -> Finding:
    try:
        found = os.lstat(place.database)
    except FileNotFoundError:
        if place.store_id.exists():
            return bad("database", "log.db is gone, though it was made", restoring(place))
        return warn("database", "there is none yet", "It is made at an agent's first call.")
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return bad(
            "database",
            "log.db is not a regular file with one name",
            f"Leave one name for it, and no link. {restoring(place)}",
        )
    if not found.st_size:
        return bad("database", "log.db is empty, though it was made", restoring(place))
    if not place.store_id.exists():
        return warn(
            "database", "store-id is missing beside it", "It is made again when the store is next opened."
        )
    return ok("database", f"{found.st_size / _MEBIBYTE:,.1f} MiB")


def _log_ahead(place: Place) -> Finding:
    size = place.log_ahead.stat().st_size if place.log_ahead.exists() else 0
    found = f"{size / _MEBIBYTE:,.1f} MiB"
    if size <= _LOG_AHEAD_BYTES:
        return ok("log ahead", found)
    return warn(
        "log ahead",
        f"{found}: a program has been reading the store for long",
        "End it; the next write makes it small again.",
    )


def _lock(place: Place) -> Finding:
    held = holder_now(place.lock)
    if held is None:
        return ok("lock", "free")
    who, seconds = held
    found = f"held by {who} for {seconds:.0f} s"
    if seconds < _LONG_HELD_S:
        return ok("lock", found)
    return warn("lock", found, "Others cannot write meanwhile: look at that process.")


def _backup(place: Place) -> Finding:
    newest = next(iter(backups.backups_in(place.backups)), None)
    if newest is None:
        return warn("backup", "none in the store's folder", "Make one: `pinfold backup`.")
    days = (datetime.now(UTC) - datetime.fromisoformat(newest.at)).days
    found = f"up to event {newest.seq:,}, {days:,} days old"
    if days <= _OLD_BACKUP_DAYS:
        return ok("backup", found)
    return warn("backup", found, "Make a new one: `pinfold backup`.")


def _leftovers(place: Place) -> Finding:
    found = sorted(path.name for path in _strangers(place.folder))
    if not found:
        return ok("leftovers", "none")
    return warn(
        "leftovers",
        ", ".join(found),
        f"Not part of a store, or left by a program that was killed: look at them in {place.folder}.",
    )


def _strangers(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name not in _OURS and not path.name.startswith(_SET_ASIDE):
            yield path
    yield from (folder / "backups").glob(f"*{backups.UNFINISHED[1]}")


FILE_CHECKS: dict[str, Callable[[Place], Finding]] = {
    "filesystem": _filesystem,
    "space": _space,
    "permissions": _permissions,
    "database": _database,
    "log ahead": _log_ahead,
    "lock": _lock,
    "backup": _backup,
    "leftovers": _leftovers,
}
"""By what each is about; they stand in the order in which they are told."""
