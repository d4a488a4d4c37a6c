"""The index of words: how it is asked within a scope. Each backend has its own: `sqlite/word_index.py`,
`postgres/word_index.py`.

Cost is bounded whatever is asked: counts stop at `PROBE`, and where more entries hold each of the words, only the
newest entries are looked at (`reach.py`). Source: design 6.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pinfold.store.sql.database import Database

PROBE = 5_000
"""How many matches of a word are counted one by one: a word with more is common, and tells too little for the time."""

NEWEST = 1_000
"""How many of the newest matches stand for all of a common word: any of them is as good as another."""

CANDIDATES = 2_000
"""How many entries BM25 is asked for: those with the most telling words, so that the `DEPTH` best are among them."""

WORK = 30_000
"""How many steps through matches one line may take, which keeps the commonest words within design 6's 50 ms."""

DEPTH = 200
"""How many entries of a tier are ranked: more than four full pages nobody turns."""

_NEAR = 4
"""How many ids are looked through for each match wanted, before it is known how dense they lie."""

_TRIES = 2
"""How often a nearer reach is tried before all is read."""

Scored = tuple[int, float]
"""An entry's id and its score; higher is better."""


def quoted(form: str) -> str:
    """Return a form (index tokens with blanks between) as a phrase; expressions are spelled as FTS5 reads them."""
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
    round. `oldest` is the id from which on entries are looked at, where not all are.
    """

    newest: int
    kinds: tuple[str, ...] = ()
    session: int | None = None
    since: str | None = None
    path: str | None = None
    phrases: tuple[str, ...] = ()
    oldest: int = 0

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
        SELECT 1 FROM (SELECT '/' || ? AS asked, '/' || replace(entry_path.path, char(92), '/') AS stored) AS spelled
        WHERE substr(stored, -length(asked)) = asked OR substr(asked, -length(stored)) = stored
    )
"""
"""Pointers, since a path stands only at the first of an artifact's entries."""


@dataclass(frozen=True, slots=True)
class Index(ABC):
    """Questions to the index within one scope. Expressions are made with `quoted`, `any_of` and `all_of`."""

    db: Database
    scope: Scope

    def holding(self, phrases: tuple[str, ...]) -> Index:
        """Return the index of those entries that hold each of these forms."""
        return replace(self, scope=replace(self.scope, phrases=phrases)) if phrases else self

    def reaching_back_to(self, oldest: int) -> Index:
        """Return the index of the entries from an id on."""
        return replace(self, scope=replace(self.scope, oldest=oldest))

    @property
    def of_any_time_and_path(self) -> Index:
        """The index without what only the rows of `entry` tell: to count there takes a look at each match."""
        return replace(self, scope=replace(self.scope, since=None, path=None))

    def is_common(self, expression: str) -> bool:
        """Whether more than `PROBE` entries match in all of the index, where the scope is less than that."""
        everywhere = replace(self, scope=Scope(self.scope.newest))
        return everywhere != self and everywhere.count(expression) > PROBE

    @abstractmethod
    def count(self, expression: str) -> int:
        """Return how many entries match, counting `PROBE`.

        Of more it is an estimate, by how dense the newest ones lie; with `oldest` or `phrases` in the scope it is
        `PROBE` + 1.
        """

    def newest(self, expression: str, limit: int) -> list[int]:
        """Return the ids of the newest matches, newest first; see `back_to`."""
        return self.back_to(self.scope.newest - _NEAR * limit, expression, limit)[:limit]

    def back_to(self, near: int, expression: str, least: int) -> list[int]:
        """Return the ids of the matches from `near` on, newest first; of older ones, too, if these are not `least`.

        Time grows with all matches of the scope; where they lie densely, with `least` only.
        """
        newest, middle = self.scope.newest, (self.scope.oldest + self.scope.newest) // 2
        for _ in range(_TRIES):
            if near <= middle:
                break
            found = self.reaching_back_to(near).every(expression)
            if len(found) >= least:
                return found
            near = newest - (newest - near) * least * 5 // (4 * len(found) or 1)
        return self.every(expression)

    @abstractmethod
    def every(self, expression: str) -> list[int]:
        """Return the ids of all matches, newest first."""

    @abstractmethod
    def latest(self, expression: str) -> list[int]:
        """Return the ids of the `NEWEST` newest matches, newest first; quick for what is common."""

    @abstractmethod
    def among(self, expression: str, ids: Iterable[int]) -> set[int]:
        """Return those of the ids that match; each costs a look into the index."""

    @abstractmethod
    def within(self, expression: str, ids: list[int]) -> list[int]:
        """Return those of the ids that match; time grows with the matches, whatever the number of ids."""

    @abstractmethod
    def best(self, expression: str, ids: Iterable[int]) -> list[Scored]:
        """Return the `DEPTH` best of these entries by BM25, whatever the scope.

        Time grows with the matches of each word everywhere: BM25 counts them all.
        """

    @abstractmethod
    def lengths(self, ids: Iterable[int]) -> dict[int, int]:
        """Return how many words each of these entries has."""
