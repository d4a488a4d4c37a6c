"""What a verb needs of a database, whichever it is. Source: docs/decisions/0018.

Statements are standard SQL with `?` or `:name` for values. Beyond the standard they may use
`IN (SELECT value FROM json_each(?))` for a list of numbers, `atom` in place of `value` for one of texts, and
`instr(text, part)`; every sub-select in FROM has a name. A backend translates what its engine spells another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pinfold.store.sql.search.index import Index, Scope

Values = Sequence[Any] | Mapping[str, Any]


@cache
def insertion(table: str, columns: tuple[str, ...]) -> str:
    """Return the statement that inserts a row, a mark for each column."""
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names are ours


class Row(Protocol):
    """One row, its columns by name or by place."""

    def __getitem__(self, column: int | str, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def keys(self) -> Iterable[str]:
        """Return the names of the columns."""


class Answer(Protocol):
    """The rows that a statement gave."""

    def fetchone(self) -> Any:
        """Return the next row, None behind the last."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """One project's tables inside of one transaction, and the index of words beside them."""

    def execute(self, statement: str, values: Values = ..., /) -> Answer:
        """Run one statement; its rows are few."""

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> object:
        """Run one statement once for each of the values."""

    def stream(self, statement: str, values: Values = (), /) -> Iterator[Any]:
        """Yield rows, however many, without holding them all; other statements may run in between."""

    def insert(self, table: str, row: Mapping[str, Any], /) -> int:
        """Insert a row under the next number of its table's column `id`, which is returned."""

    def put_words(self, entry: int, text: str, /) -> None:
        """Make the text of an entry findable; its row in `entry` must exist."""

    def take_out_words(self, entry: int, text: str, /) -> None:
        """Take an entry out of the index: with the text it was put in with, before its row in `entry` goes."""

    def clear_words(self) -> None:
        """Empty the index of words."""

    def index(self, scope: Scope, /) -> Index:
        """Return the index of words within a scope."""
