"""The scrub: nothing that was forgotten is left in any page of the files, in the index's, or in the log ahead.

What was forgotten is out of every answer before; until the scrub is done, `meta` remembers that it is owed, so that
a process that was killed, a full disk or a long read elsewhere only puts it off. Source: docs/decisions/0011.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from pinfold.store import Progress
from pinfold.store.forgetting import Scrubbed
from pinfold.store.sql.forgetting.owing import OWED
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.failures import primary_code

_STEPS = 4
_A_READER = "a program is reading the store; its old pages stay until it has ended"
_NO_ROOM = "there is no room for a second copy of the store, which a scrub needs for a moment"


def scrub(db: SqliteDatabase, place: Place, progress: Progress | None = None) -> Scrubbed:
    """Write the whole store anew and cut off the log ahead; runs behind the gate, outside of a transaction.

    It takes the room of the store once more, for a moment.
    """
    before = place.size_bytes
    tell = progress or (lambda _done, _total: None)
    tell(0, _STEPS)
    try:
        with _on_disk(db):
            db.execute("INSERT INTO words (words) VALUES ('optimize')")
            tell(1, _STEPS)
            db.execute("VACUUM")
        tell(2, _STEPS)
    except sqlite3.OperationalError as error:
        if primary_code(error) not in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            raise
        return Scrubbed(before, place.size_bytes, _NO_ROOM)
    if not _cut_log_ahead(db):
        return Scrubbed(before, place.size_bytes, _A_READER)
    tell(3, _STEPS)
    db.execute("DELETE FROM meta WHERE name = ?", (OWED,))
    tell(_STEPS, _STEPS)
    return Scrubbed(before, place.size_bytes)


@contextmanager
def _on_disk(db: SqliteDatabase) -> Iterator[None]:
    """Let the copy that VACUUM makes lie in an unnamed file, not in memory."""
    db.execute("PRAGMA temp_store = FILE")
    try:
        yield
    finally:
        db.execute("PRAGMA temp_store = MEMORY")


def _cut_log_ahead(db: SqliteDatabase) -> bool:
    """Move everything into the database and cut the log ahead to nothing; False while a reader needs it."""
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        return True
    return any(not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] for _ in range(2))
