"""Whether a store's folder and files are this user's own: what others put there is neither read nor written.

Sources: P11, P25.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pinfold.store.errors import ReadOnlyError
from pinfold.store.sqlite.connection import Place, refuse
from pinfold.store.sqlite.filesystem import can_carry_wal


def check_own(place: Place) -> None:
    """Check the store's folder and what lies beside its database, before any of it is opened.

    Raises `ReadOnlyError` where others own or can write it, `DamagedError` for a link or no regular file,
    `OSError` for a folder that cannot be looked into.
    """
    folder = os.stat(place.folder)
    _refuse_foreign(place.folder, folder)
    if folder.st_mode & stat.S_IWOTH and _keeps_modes(place.folder):
        raise ReadOnlyError(
            f"anyone can write into {place.folder}",
            f"Look at what lies there, then: chmod -R go= {place.folder}",
        )
    for path in (place.lock, place.store_id, place.log_ahead, place.shared_memory, place.rollback_journal):
        own_file(place, path)


def own_file(place: Place, path: Path) -> os.stat_result | None:
    """Return what is known of a store's file, None where there is none; raises as `check_own`."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        refuse(place, f"{path.name} is not a regular file with one name")
    _refuse_foreign(path, found)
    return found


def _refuse_foreign(path: Path, found: os.stat_result) -> None:
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise ReadOnlyError(f"{path} belongs to another user", "Use a store of your own: PINFOLD_HOME.")


def _keeps_modes(folder: Path) -> bool:
    """Whether modes mean something there: shares and disks of other systems show the same one for everything."""
    return os.name == "posix" and can_carry_wal(folder)
