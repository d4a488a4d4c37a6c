"""The index of words in FTS5: how it is asked. What is written into it: `indexing.py`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.store.sql.search.index import DEPTH, NEWEST, PROBE, Index, Scope, Scored, all_of, any_of, quoted
from pinfold.store.sqlite.indexing import kind_tag, session_tag

_BM25 = "-bm25(words, 1.0, 0.5, 0.0)"
"""A piece of an identifier counts half a word as written, a tag nothing."""


def _within(scope: Scope, expression: str) -> str:
    """Return the FTS5 expression for an expression within this scope."""
    wanted = all_of([expression, *map(quoted, scope.phrases)])
    tags = []
    if scope.kinds:
        tags.append(any_of(quoted(kind_tag(kind)) for kind in scope.kinds))
    if scope.session is not None:
        tags.append(quoted(session_tag(scope.session)))
    filters = f" AND {{tags}} : {all_of(tags)}" if tags else ""
    return f"{{body parts}} : {wanted}{filters}"


@dataclass(frozen=True, slots=True)
class WordIndex(Index):
    """See `Index`."""

    def count(self, expression: str) -> int:
        """See `Index.count`."""
        if self.scope.oldest or self.scope.phrases:
            return len(self.newest(expression, PROBE + 1))
        sql, values = self._select("words.rowid AS id", expression)
        found, first = self.db.execute(
            f"SELECT count(*), min(id) FROM ({sql} ORDER BY id DESC LIMIT ?)",  # noqa: S608
            (*values, PROBE + 1),
        ).fetchone()
        return (
            int(found) if found <= PROBE else int(found * self.scope.newest / (self.scope.newest - first + 1))
        )

    def every(self, expression: str) -> list[int]:
        """See `Index.every`."""
        # Backwards FTS5 skips nothing, and stops at the oldest id only where that matches.
        return self._ids(expression, "ORDER BY id")[::-1]

    def latest(self, expression: str) -> list[int]:
        """See `Index.latest`."""
        if self.of_any_time_and_path != self:
            return self.newest(expression, NEWEST)
        return self._ids(expression, f"ORDER BY id DESC LIMIT {NEWEST}")

    def _ids(self, expression: str, order: str) -> list[int]:
        sql, values = self._select("words.rowid AS id", expression)
        # One row of JSON: SQLite hands over many rows several times slower.
        found = self.db.execute(f"SELECT json_group_array(id) FROM ({sql} {order})", values).fetchone()  # noqa: S608
        ids: list[int] = json.loads(found[0])
        return ids

    def among(self, expression: str, ids: Iterable[int]) -> set[int]:
        """See `Index.among`."""
        rows = self.db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
            (_within(self.scope, expression), json.dumps(list(ids))),
        )
        return {row[0] for row in rows}

    def within(self, expression: str, ids: list[int]) -> list[int]:
        """See `Index.within`."""
        if not ids:
            return []
        # The plus keeps the planner from asking the index once per id, which costs far more.
        return [
            row[0]
            for row in self.db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
                " AND +rowid IN (SELECT value FROM json_each(?))",
                (_within(self.scope, expression), ids[0], ids[-1], json.dumps(ids)),
            )
        ]

    def best(self, expression: str, ids: Iterable[int]) -> list[Scored]:
        """See `Index.best`."""
        # The plus keeps SQLite from asking the index anew for each id.
        rows = self.db.execute(
            f"SELECT rowid, {_BM25} AS score FROM words WHERE words MATCH ?"  # noqa: S608
            " AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY score DESC, rowid DESC LIMIT ?",
            (f"{{body parts}} : {expression}", json.dumps(list(ids)), DEPTH),
        )
        return [(row[0], row[1]) for row in rows]

    def lengths(self, ids: Iterable[int]) -> dict[int, int]:
        """See `Index.lengths`."""
        rows = self.db.execute(
            "SELECT id, sz FROM words_docsize WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: _first_number(row[1]) for row in rows}

    def _select(self, what: str, expression: str) -> tuple[str, list[str | int]]:
        conditions, values = self.scope.outside_index()
        # CROSS JOIN keeps the planner from asking the index once per entry.
        joined = "words CROSS JOIN entry ON entry.id = words.rowid" if conditions else "words"
        sql = f"SELECT {what} FROM {joined} WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?"  # noqa: S608
        scope = self.scope
        return sql + conditions, [_within(scope, expression), scope.oldest, scope.newest, *values]


def _first_number(packed: bytes) -> int:
    """Return the first number of a row of `words_docsize`: the words of `body`, seven bits in a byte."""
    number = 0
    for byte in packed:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number
