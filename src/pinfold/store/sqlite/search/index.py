"""The index of words: how it is asked within a scope. What is written there: `sqlite/indexing.py`.

Cost is bounded whatever is asked: counts stop at `PROBE`, and of words that more entries hold only the newest
`NEWEST` matches among the `WINDOW` newest entries are ranked. Source: design 6.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pinfold.store.sqlite.indexing import kind_tag, session_tag

PROBE = 5_000
NEWEST = 2_000
WINDOW = 100_000
DEPTH = 200

Scored = tuple[int, float]
"""An entry's id and its score; higher is better."""

_BM25 = "-bm25(words, 1.0, 0.5, 0.0)"


def quoted(form: str) -> str:
    """Return a form (index tokens with blanks between) as a phrase that FTS5 reads as nothing else."""
    return '"' + form.replace('"', '""') + '"'


def any_of(expressions: Iterable[str]) -> str:
    """Return an expression for entries that hold at least one of these."""
    return "(" + " OR ".join(expressions) + ")"


def all_of(expressions: Iterable[str]) -> str:
    """Return an expression for entries that hold each of these."""
    return "(" + " AND ".join(expressions) + ")"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which entries may be found: ids up to `newest`, of these kinds, this session, since, about this path.

    `phrases` are forms that each entry must hold. `path` matches whole segments from the end, either way
    round.
    """

    newest: int
    kinds: tuple[str, ...] = ()
    session: int | None = None
    since: str | None = None
    path: str | None = None
    phrases: tuple[str, ...] = ()

    def match(self, expression: str) -> str:
        """Return the FTS5 expression for an expression within this scope."""
        wanted = all_of([expression, *map(quoted, self.phrases)])
        tags = []
        if self.kinds:
            tags.append(any_of(quoted(kind_tag(kind)) for kind in self.kinds))
        if self.session is not None:
            tags.append(quoted(session_tag(self.session)))
        filters = f" AND {{tags}} : {all_of(tags)}" if tags else ""
        return f"{{body parts}} : {wanted}{filters}"

    def outside_index(self) -> tuple[str, list[str | int]]:
        """Return what the index cannot tell, as SQL over `entry` beginning with AND, and its parameters."""
        sql = ""
        values: list[str | int] = []
        if self.since is not None:
            sql += " AND entry.at >= ?"
            values.append(self.since)
        if self.path is not None:
            sql += f" AND entry.pointer IN ({_ABOUT_PATH})"
            path = self.path.replace("\\", "/").removeprefix("./").rstrip("/")
            values += [path.rpartition("/")[2], path]
        return sql, values

    def on_entry(self) -> tuple[str, list[str | int]]:
        """Return all filters as SQL over `entry` beginning with AND, and its parameters."""
        sql, values = self.outside_index()
        if self.kinds:
            sql += f" AND entry.kind IN ({', '.join('?' * len(self.kinds))})"
            values += self.kinds
        if self.session is not None:
            sql += " AND entry.session = ?"
            values.append(self.session)
        return sql, values


_ABOUT_PATH = """
    SELECT head.pointer FROM entry_path CROSS JOIN entry AS head ON head.id = entry_path.entry
    WHERE entry_path.name = ? AND EXISTS (
        SELECT 1 FROM (SELECT '/' || ? AS asked, '/' || replace(entry_path.path, char(92), '/') AS stored)
        WHERE substr(stored, -length(asked)) = asked OR substr(asked, -length(stored)) = stored
    )
"""
"""Pointers, since a path stands only at the first of an artifact's entries."""


@dataclass(frozen=True, slots=True)
class Index:
    """Questions to the index within one scope. Expressions are made with `quoted`, `any_of` and `all_of`."""

    db: sqlite3.Connection
    scope: Scope

    def holding(self, phrases: tuple[str, ...]) -> Index:
        """Return the index of those entries that hold each of these forms."""
        return replace(self, scope=replace(self.scope, phrases=phrases)) if phrases else self

    def count(self, expression: str) -> int:
        """Return how many entries match, counting no further than `PROBE` + 1."""
        sql, values = self._select("1", expression)
        row = self.db.execute(f"SELECT count(*) FROM ({sql} LIMIT ?)", (*values, PROBE + 1)).fetchone()  # noqa: S608
        return int(row[0])

    def newest(self, expression: str, limit: int, floor: int = 0) -> list[int]:
        """Return the ids of the newest matches from `floor` on, newest first."""
        sql, values = self._select("words.rowid", expression)
        ordered = f"{sql} AND words.rowid >= ? ORDER BY words.rowid DESC LIMIT ?"
        return [row[0] for row in self.db.execute(ordered, (*values, floor, limit))]

    def recent(self, expression: str) -> list[int]:
        """Return the ids of the `NEWEST` newest matches among the `WINDOW` newest entries, newest first."""
        return self.newest(expression, NEWEST, self.scope.newest - WINDOW)

    def among(self, expression: str, ids: Iterable[int]) -> set[int]:
        """Return those of the ids that match; each costs a look into the index."""
        rows = self.db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
            (self.scope.match(expression), json.dumps(list(ids))),
        )
        return {row[0] for row in rows}

    def within(self, expression: str, ids: list[int]) -> list[int]:
        """Return those of the ids that match; time grows with the matches, whatever the number of ids."""
        # The plus keeps the planner from asking the index once per id, which costs far more.
        return [
            row[0]
            for row in self.db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
                " AND +rowid IN (SELECT value FROM json_each(?))",
                (self.scope.match(expression), ids[0], ids[-1], json.dumps(ids)),
            )
        ]

    def best(self, expression: str, floor: int = 0) -> list[Scored]:
        """Return the `DEPTH` best matches from id `floor` on; time grows with the matches of each word."""
        sql, values = self._select(f"words.rowid, {_BM25} AS score", expression)
        ordered = f"{sql} AND words.rowid >= ? ORDER BY score DESC, words.rowid DESC LIMIT ?"
        return [(row[0], row[1]) for row in self.db.execute(ordered, (*values, floor, DEPTH))]

    def _select(self, what: str, expression: str) -> tuple[str, list[str | int]]:
        conditions, values = self.scope.outside_index()
        # CROSS JOIN keeps the planner from asking the index once per entry.
        joined = "words CROSS JOIN entry ON entry.id = words.rowid" if conditions else "words"
        sql = f"SELECT {what} FROM {joined} WHERE words MATCH ? AND words.rowid <= ?"  # noqa: S608
        return sql + conditions, [self.scope.match(expression), self.scope.newest, *values]
