"""The statements of the verbs as PostgreSQL spells them, and its rows as the verbs read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import psycopg
from psycopg.types.numeric import Int8Dumper

_SPELLINGS = (
    (
        r"\bIN \(SELECT value FROM json_each\(\?\)\)",
        "= ANY(ARRAY(SELECT json_array_elements_text(?::json)::bigint))",
    ),
    (r"SELECT value FROM json_each\(\?\)", "SELECT json_array_elements_text(?::json)::bigint"),
    (r"SELECT atom FROM json_each\(\?\)", "SELECT json_array_elements_text(?::json)"),
    (r"\bIS \?", "IS NOT DISTINCT FROM ?"),
    (r"\bON CONFLICT \(", "ON CONFLICT (project, "),
    (r"\binstr\(", "strpos("),
    (r"\bchar\(", "chr("),
    (r"\bsubstr\((\w+), -length\((\w+)\)\)", r"right(\1, length(\2))"),
    (r"\bCROSS JOIN (\w+ AS \w+) ON\b", r"JOIN \1 ON"),
    (r"\bCAST\(body AS BLOB\)", "convert_to(body, 'UTF8')"),
)
_MARK = re.compile(r"'(?:[^']|'')*'|::\w+|:([a-z_]+)|\?")


@lru_cache(1024)
def translated(statement: str) -> str:
    """Return a statement of a verb for the driver. Unique keys are a project's own: see `schema.py`."""
    for pattern, spelling in _SPELLINGS:
        statement = re.sub(pattern, spelling, statement)
    return _MARK.sub(_mark, statement.replace("%", "%%"))


def _mark(found: re.Match[str]) -> str:
    """Return a mark for a value as the driver has it; in a quoted text, and of a type, nothing is one."""
    if found[0] == "?":
        return "%s"
    return f"%({found[1]})s" if found[1] else found[0]


class _Row(tuple[Any, ...]):
    """A row of which a column is had by its place or its name."""

    __slots__ = ()
    names: dict[str, int]

    def __getitem__(self, column: Any) -> Any:
        return tuple.__getitem__(self, self.names[column] if column.__class__ is str else column)

    def keys(self) -> list[str]:
        return list(self.names)


R = TypeVar("R")


@lru_cache(256)
def _kind(names: tuple[str, ...]) -> type[_Row]:
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    return type("Row", (_Row,), {"__slots__": (), "names": places})


def row_by_name(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Any]:
    """Make rows as `Row` promises; a factory of the driver."""
    return _kind(tuple(column.name for column in cursor.description or ()))


def speak(db: psycopg.Connection[Any]) -> None:
    """Let a connection give rows by name, and take each number as one of eight bytes, as all columns are."""
    db.row_factory = row_by_name
    db.adapters.register_dumper(int, Int8Dumper)
