"""The tables of a database of many projects, derived from the one schema (`store/schema.sql`).

Each table gets a column `project`, which stands in every key and fills itself in, and shows only the rows of the
project that the transaction is for: a statement that asks for all gets that project's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from pinfold.store.sqlite.schema import statements

_TYPES = {"INTEGER": "bigint", "TEXT": 'text COLLATE "C"', "BLOB": "bytea"}
_COLUMN = re.compile(r"(?:\A|,)\s*(\w+)\s+(INTEGER|TEXT|BLOB)\b([^,]*)")
_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*)\) (?:STRICT|WITHOUT ROWID|, )+;?\s*\Z", re.S)
_INDEX = re.compile(r"(CREATE (?:UNIQUE )?INDEX \w+ ON \w+ \()")
_ADDED = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+) (INTEGER|TEXT|BLOB)\b(.*)", re.S)
_DROPPED = re.compile(r" PRIMARY KEY| UNIQUE| REFERENCES \w+ \(\w+\)")
_PROJECT = "project bigint NOT NULL DEFAULT this_project()"


def whole_schema() -> Iterator[str]:
    """Yield the statements that make everything."""
    yield files("pinfold.store.postgres").joinpath("own.sql").read_text("utf-8")
    for table in ("words", "posting"):
        yield _guard(table)
    for statement in statements():
        if "VIRTUAL TABLE" not in statement:
            yield from spelled(statement)


def spelled(statement: str) -> Iterator[str]:
    """Yield what one statement of the schema, or of a step to a newer one, is here."""
    bare = re.sub(r"--[^\n]*", "", statement).strip()
    if table := _TABLE.match(bare):
        yield _table(table[1], table[2])
        yield _guard(table[1])
    elif added := _ADDED.match(bare):
        yield f"ALTER TABLE {added[1]} ADD COLUMN {added[2]} {_TYPES[added[3]]}{added[4]}"
    else:
        yield _INDEX.sub(r"\1project, ", bare)


def _table(name: str, body: str) -> str:
    listed = re.search(r"PRIMARY KEY \(([^)]*)\)", body)
    columns = _COLUMN.findall(body if listed is None else body[: listed.start()])
    single = next((column for column, _, rest in columns if "PRIMARY KEY" in rest), "")
    lines = [f"{column} {_TYPES[kind]}{_DROPPED.sub('', rest).rstrip()}" for column, kind, rest in columns]
    lines += [f"UNIQUE (project, {column})" for column, _, rest in columns if "UNIQUE" in rest]
    key = listed[1] if listed else single
    return f"CREATE TABLE {name} ({', '.join(lines)}, {_PROJECT}, PRIMARY KEY (project, {key}))"


def _guard(table: str) -> str:
    """Return what shows the rows of the transaction's project only, to the owner of the table as well."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
        f" CREATE POLICY of_project ON {table} USING (project = this_project())"
    )
