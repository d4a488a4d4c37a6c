"""Whether the views and the index are what the log makes of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from pinfold.store import Progress
from pinfold.store.sql.auditing import digest_of_rows
from pinfold.store.sql.rebuilding import VIEWS, rebuild
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.private_copy import unreadable

_INDEX = (
    "DROP TABLE IF EXISTS temp.placing",
    "CREATE TEMP TABLE placing (entry INTEGER PRIMARY KEY, place INTEGER NOT NULL)",
    "INSERT INTO placing SELECT id, row_number() OVER (ORDER BY id) FROM entry",
    "SELECT place, seq, pointer, chunk, kind, session, at, ref FROM placing JOIN entry ON id = entry ORDER BY place",
    "SELECT name, path, place FROM entry_path LEFT JOIN placing USING (entry) ORDER BY 1, 2, 3",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab (main, words, instance)",
    "SELECT term, group_concat(coalesce((SELECT place FROM placing WHERE entry = doc), 'none')"
    " || ' ' || col || ' ' || offset) FROM vocabulary GROUP BY term",
)
"""Entries, their paths, and every word with its places in them; numbered by order, since their ids may have gaps.

The words come in their order and each one's places, too; to put them together there is twice as fast as here.
"""


def differences(copy: SqliteDatabase, progress: Progress | None = None) -> list[str]:
    """Return the views that differ from the log, the index as `search index`; `copy` is rebuilt for that.

    Raises `DamagedError` as `rebuild` does.
    """
    stored = dict(_digests(copy))
    copy.execute("BEGIN")
    rebuild(copy, progress)
    copy.execute("COMMIT")
    return [name for name, digest in _digests(copy) if digest is None or digest != stored[name]]


def _digests(db: SqliteDatabase) -> Iterator[tuple[str, bytes | None]]:
    """Yield a digest of each view and of the index; None where it cannot be read."""
    for table in VIEWS:
        yield f"view {table}", _digest(db, f"SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608
    yield "search index", _digest(db, *_INDEX)


def _digest(db: SqliteDatabase, *statements: str) -> bytes | None:
    try:
        return digest_of_rows(db, *statements)
    except sqlite3.DatabaseError as error:
        unreadable(error)
        return None
