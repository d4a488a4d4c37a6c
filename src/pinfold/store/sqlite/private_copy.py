"""A copy of a store as it is at one moment, to be looked at and changed at will. Source: P16."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from pinfold.store import Progress
from pinfold.store.errors import DamagedError
from pinfold.store.sqlite.connection import connect
from pinfold.store.sqlite.copying import copy_pages, fixed
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.failures import translate

TEMPORARY = "the folder for temporary files"


@contextmanager
def private_copy(database: Path, progress: Progress | None = None) -> Iterator[SqliteDatabase]:
    """Copy a store's file into a database without a name, of which nothing is left however this ends.

    The store is read in one snapshot, which ends with the copying: what is done with the copy holds nobody up.
    Raises `DamagedError` for a file that cannot be read, `NoSpaceError` where there is no room for a copy.
    """
    with closing(sqlite3.connect("", isolation_level=None, factory=SqliteDatabase)) as copy:
        copy.row_factory = sqlite3.Row
        copy.text_factory = partial(str, encoding="utf-8", errors="replace")  # a damaged text is to be seen
        _copy(database, copy, progress)
        copy.execute("PRAGMA synchronous = OFF")
        copy.execute("PRAGMA journal_mode = OFF")
        yield copy


def _copy(database: Path, copy: SqliteDatabase, progress: Progress | None) -> None:
    try:
        with closing(connect(database, read_only=True)) as source:
            copy_pages(fixed(source), copy, progress)
    except sqlite3.Error as error:
        translate(error, TEMPORARY)


def unreadable(error: sqlite3.DatabaseError) -> str:
    """Return what an error says of a copy's content; raises one that is no fault of it, such as a full disk."""
    with suppress(DamagedError, sqlite3.DatabaseError):
        translate(error, TEMPORARY)
    return f"it cannot be read ({error})"
