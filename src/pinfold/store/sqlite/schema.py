"""What a store's file is made of: the statements of `schema.sql`, and whether a file has it all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files

_OBJECTS = "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid"


def statements() -> list[str]:
    """Return the statements that make an empty store."""
    found: list[str] = []
    pending = ""
    for line in files("pinfold.store").joinpath("schema.sql").read_text("utf-8").splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found


def missing_or_foreign(db: sqlite3.Connection) -> Iterator[str]:
    """Yield tables and indexes that a file of this schema should have, and triggers and views, which it should not."""
    with closing(sqlite3.connect(":memory:")) as blank:
        for statement in statements():
            blank.execute(statement)
        expected = dict(blank.execute(_OBJECTS).fetchall())
    found = dict(db.execute(_OBJECTS).fetchall())
    yield from (f"file: the {kind} {name} is missing" for name, kind in expected.items() if name not in found)
    yield from (
        f"file: the {kind} {name} is not ours" for name, kind in found.items() if kind in ("trigger", "view")
    )
