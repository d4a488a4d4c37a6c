"""A store's log, read past the store, with nothing of it in the way."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pinfold.store.sqlite.connection import Place
from pinfold.store.values import Receipt


@dataclass(frozen=True, slots=True)
class Log:
    """The receipts and the keys of all events."""

    receipts: tuple[Receipt, ...] = ()
    keys: frozenset[str] = frozenset()


def log_of(database: Path) -> Log:
    """Read a log that nobody writes to; an empty one where there is no store."""
    if not database.exists() or not database.stat().st_size:
        return Log()
    with closing(sqlite3.connect(database)) as link:
        rows = link.execute("SELECT seq, lower(hex(digest)), key FROM event").fetchall()
    receipts = (Receipt(seq, digest[:12]) for seq, digest, _ in rows)
    return Log(tuple(receipts), frozenset(key for _, _, key in rows if key))


def log_after_a_kill(place: Place, scratch: Path) -> Log:
    """Return the log that would be found if all processes of a store were killed now."""
    copy = Place(scratch / "after a kill")
    shutil.rmtree(copy.folder, ignore_errors=True)
    copy.folder.mkdir(parents=True)
    for file in (place.database, place.log_ahead, place.rollback_journal):
        if file.exists():
            shutil.copy(file, copy.folder)
    return log_of(copy.database)
