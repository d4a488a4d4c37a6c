"""Whether the views and the index are what the log makes of them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator

from pinfold.store import Progress
from pinfold.store.sqlite.private_copy import unreadable
from pinfold.store.sqlite.rebuilding import VIEWS, rebuild

_INDEX_TABLES = (
    "CREATE TEMP VIEW IF NOT EXISTS placed AS SELECT row_number() OVER (ORDER BY id) AS place, * FROM entry",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab (main, words, instance)",
)
_INDEX_QUERIES = (
    "SELECT place, seq, pointer, chunk, kind, session, at, ref FROM placed ORDER BY place",
    "SELECT name, path, place FROM entry_path LEFT JOIN placed ON id = entry ORDER BY 1, 2, 3",
    "SELECT term, place, col, offset FROM vocabulary LEFT JOIN placed ON id = doc ORDER BY 1, 2, 3, 4",
)
"""Entries, their paths, and every word's place in them; numbered by order, since their ids may have gaps."""


def differences(copy: sqlite3.Connection, progress: Progress | None = None) -> list[str]:
    """Return the views that differ from the log, the index as `search index`; `copy` is rebuilt for that.

    Raises `DamagedError` as `rebuild` does.
    """
    stored = dict(_digests(copy))
    copy.execute("BEGIN")
    rebuild(copy, progress)
    copy.execute("COMMIT")
    return [name for name, digest in _digests(copy) if digest is None or digest != stored[name]]


def _digests(db: sqlite3.Connection) -> Iterator[tuple[str, bytes | None]]:
    """Yield a digest of each view and of the index; None where it cannot be read."""
    for table in VIEWS:
        yield f"view {table}", _digest(db, f"SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608
    for statement in _INDEX_TABLES:
        db.execute(statement)
    yield "search index", _digest(db, *_INDEX_QUERIES)


def _digest(db: sqlite3.Connection, *queries: str) -> bytes | None:
    whole = hashlib.sha256()
    try:
        for query in queries:
            for row in db.execute(query):
                whole.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
    except sqlite3.DatabaseError as error:
        unreadable(error)
        return None
    return whole.digest()
