"""One project's tables inside of one transaction, as the verbs want them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import psycopg

from pinfold.store.postgres.dialect import translated
from pinfold.store.postgres.postings import Postings
from pinfold.store.sql.database import Answer, Values, insertion
from pinfold.store.sql.search.index import Index, Scope
from pinfold.store.sqlite.lexemes import Lexer

_ROWS_AT_ONCE = 200


class PostgresDatabase:
    """See `Database`. What was put into the index is there once `flush` has been called."""

    def __init__(self, link: psycopg.Connection[Any], lexer: Lexer) -> None:
        self._link = link
        self._lexer = lexer
        self._next: dict[str, int] = {}
        self._streams = count(1)
        self._postings = Postings(self)

    def execute(self, statement: str, values: Values = (), /) -> Answer:
        """See `Database.execute`."""
        return self._link.execute(translated(statement), values)

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> None:
        """See `Database.executemany`."""
        with self._link.cursor() as cursor:
            cursor.executemany(translated(statement), values)

    def stream(self, statement: str, values: Values = (), /) -> Iterator[Any]:
        """See `Database.stream`."""
        with self._link.cursor(f"stream_{next(self._streams)}") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(translated(statement), values)
            yield from cursor

    def insert(self, table: str, row: Mapping[str, Any], /) -> int:
        """See `Database.insert`; numbers are counted per project, whose writer is alone."""
        if table not in self._next:
            newest = self.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]  # noqa: S608
            self._next[table] = int(newest) + 1
        number = self._next[table]
        self._next[table] += 1
        self.execute(insertion(table, ("id", *row)), (number, *row.values()))
        return number

    def put_words(self, entry: int, text: str, /) -> None:
        """See `Database.put_words`."""
        body, parts = self._lexer.of_text(text)
        row = {"id": entry, "body": in_a_row(body), "parts": in_a_row(parts), "size": len(body)}
        self.execute("INSERT INTO words (id, body, parts, size) VALUES (:id, :body, :parts, :size)", row)
        self._postings.add(entry, {*body, *parts})

    def take_out_words(self, entry: int, _text: str, /) -> None:
        """See `Database.take_out_words`."""
        row = self.execute("SELECT body, parts FROM words WHERE id = ?", (entry,)).fetchone()
        if row is not None:
            self._postings.take_out(entry, {*row[0].split(), *row[1].split()})
            self.execute("DELETE FROM words WHERE id = ?", (entry,))

    def clear_words(self) -> None:
        """See `Database.clear_words`."""
        self._next.clear()
        self._postings.clear()
        self.execute("DELETE FROM words")

    def flush(self) -> None:
        """Write what the index still has to be told."""
        self._postings.flush()

    def index(self, scope: Scope, /) -> Index:
        """See `Database.index`."""
        from pinfold.store.postgres.word_index import WordIndex

        return WordIndex(self, scope, self._lexer)


def in_a_row(words: list[str]) -> str:
    """Return words with blanks around each: a phrase of them is a part of that."""
    return f" {' '.join(words)} "
