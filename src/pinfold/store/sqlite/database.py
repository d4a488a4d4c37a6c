"""SQLite as the verbs want it: `sqlite3`'s own connection, with the index of words beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pinfold.store.sql.database import Values, insertion
from pinfold.store.sqlite import indexing

if TYPE_CHECKING:  # no write needs it
    from pinfold.store.sql.search.index import Index, Scope


class SqliteDatabase(sqlite3.Connection):
    """See `Database`; made by passing it to `sqlite3.connect` as the factory."""

    def stream(self, statement: str, values: Values = (), /) -> Iterator[Any]:
        """See `Database.stream`; SQLite hands over each row when it is asked for."""
        return self.execute(statement, values)

    def insert(self, table: str, row: Mapping[str, Any], /) -> int:
        """See `Database.insert`."""
        # No RETURNING: it makes a savepoint, at which FTS5 writes out what it gathers for the whole transaction.
        inserted = self.execute(insertion(table, tuple(row)), tuple(row.values())).lastrowid
        assert inserted is not None
        return inserted

    def put_words(self, entry: int, text: str, /) -> None:
        """See `Database.put_words`."""
        indexing.index_entry(self, entry, text)

    def take_out_words(self, entry: int, text: str, /) -> None:
        """See `Database.take_out_words`."""
        indexing.unindex_entry(self, entry, text)

    def clear_words(self) -> None:
        """See `Database.clear_words`."""
        self.execute("INSERT INTO words (words) VALUES ('delete-all')")

    def index(self, scope: Scope, /) -> Index:
        """See `Database.index`."""
        from pinfold.store.sqlite.word_index import WordIndex

        return WordIndex(self, scope)
