"""`rebuild`: the views and the index, derived anew from the log. Source: design 1 (views are rebuildable)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from pinfold.store import Progress
from pinfold.store.sqlite.apply import apply
from pinfold.store.sqlite.rows import event_of
from pinfold.store.views import changes

VIEWS = ("session", "conversation", "pin", "artifact", "checkpoint", "fold", "external", "miss", "forgotten")
INDEX = ("entry", "entry_path")
_EVERY = 2_000


def count(db: sqlite3.Connection, table: str) -> int:
    """Return the number of rows of a table."""
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def log(db: sqlite3.Connection, progress: Progress | None, schema: str = "main") -> Iterator[sqlite3.Row]:
    """Yield the log's rows in order."""
    total = count(db, f"{schema}.event")
    rows = db.execute(f"SELECT * FROM {schema}.event ORDER BY seq")  # noqa: S608
    for done, row in enumerate(rows, start=1):
        yield row
        if progress is not None and (done % _EVERY == 0 or done == total):
            progress(done, total)


def empty(db: sqlite3.Connection) -> None:
    """Take everything out of the views and the index."""
    for table in (*VIEWS, *INDEX):
        db.execute(f"DELETE FROM {table}")  # noqa: S608
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")


def rebuild(db: sqlite3.Connection, progress: Progress | None = None) -> int:
    """Empty the views and the index and derive them anew; runs inside a write transaction."""
    empty(db)
    return derive(db, log(db, progress))


def derive(db: sqlite3.Connection, rows: Iterable[sqlite3.Row], bytes_in: str = "main") -> int:
    """Apply what each row of the log changes; return how many there were."""
    done = 0
    for row in rows:
        apply(db, changes(event_of(row)), bytes_in)
        done += 1
    return done
