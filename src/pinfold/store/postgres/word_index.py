"""The index of words in tables: how it is asked.

An expression is that of FTS5, as `quoted`, `any_of` and `all_of` spell it. It becomes a question for sets of ids:
those that hold a word come from its rows of `posting`, a phrase is looked for in the `words` of those that hold all
of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pinfold.store.postgres.database import in_a_row
from pinfold.store.sql.search.index import DEPTH, NEWEST, PROBE, Index, Scored, all_of, quoted
from pinfold.store.sqlite.lexemes import Lexer

_SIGN = re.compile(r'\(|\)|AND|OR|"((?:[^"]|"")*)"( \*)?')
_NOTHING = "SELECT id FROM words WHERE false"
_SATURATION, _LENGTH_SHARE = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class _Question:
    """SQL for a set of ids, its values, and the word where it is one word alone."""

    sql: str
    values: tuple[object, ...]
    word: str | None = None


@dataclass(frozen=True, slots=True)
class WordIndex(Index):
    """See `Index`."""

    lexer: Lexer = field(repr=False)

    def count(self, expression: str) -> int:
        """See `Index.count`."""
        ids = self.newest(expression, PROBE + 1)
        if len(ids) <= PROBE or self.scope.oldest or self.scope.phrases:
            return len(ids)
        return int(len(ids) * self.scope.newest / (self.scope.newest - ids[-1] + 1))

    def newest(self, expression: str, limit: int) -> list[int]:
        """See `Index.newest`."""
        return self._ids(expression, limit)

    def every(self, expression: str) -> list[int]:
        """See `Index.every`."""
        return self._ids(expression, None)

    def _ids(self, expression: str, limit: int | None) -> list[int]:
        filters, values = self.scope.on_entry()
        joined = " JOIN entry ON entry.id = found.id" if filters else ""
        question = self._within(expression, self.scope.oldest, self.scope.newest, None if filters else limit)
        rows = self.db.execute(
            f"SELECT found.id FROM ({question.sql}) AS found{joined} WHERE found.id BETWEEN ? AND ?{filters}"  # noqa: S608
            " ORDER BY found.id DESC LIMIT ?",
            (*question.values, self.scope.oldest, self.scope.newest, *values, limit),
        )
        return [row[0] for row in rows.fetchall()]

    def latest(self, expression: str) -> list[int]:
        """See `Index.latest`."""
        return self.newest(expression, NEWEST)

    def among(self, expression: str, ids: Iterable[int]) -> set[int]:
        """See `Index.among`."""
        return set(self.within(expression, sorted(ids)))

    def within(self, expression: str, ids: list[int]) -> list[int]:
        """See `Index.within`."""
        if not ids:
            return []
        question = self._within(expression, ids[0], ids[-1], None)
        sql = f"SELECT id FROM ({question.sql}) AS found WHERE id = ANY(?::bigint[])"  # noqa: S608
        return [row[0] for row in self.db.execute(sql, (*question.values, ids)).fetchall()]

    def best(self, expression: str, ids: Iterable[int]) -> list[Scored]:
        """See `Index.best`; each word counts once, however often an entry holds it."""
        wanted = sorted(ids)
        words = [word for form in _forms(expression) for word in self.lexer.of_form(form)]
        sizes = self.lengths(wanted)
        mean = sum(sizes.values()) / max(1, len(sizes)) or 1.0
        rows = self.db.execute(
            "SELECT array_agg(id) FILTER (WHERE id = ANY(?::bigint[])),"
            " ln(1 + (?::float - count(*) + 0.5) / (count(*) + 0.5))"
            " FROM posting, unnest(entries) AS held (id) WHERE token = ANY(?::text[]) GROUP BY token",
            (wanted, max(self.scope.newest, 1), words),
        )
        scores: dict[int, float] = {}
        for held, weight in rows.fetchall():
            for entry in held or ():
                share = 1 - _LENGTH_SHARE + _LENGTH_SHARE * sizes[entry] / mean
                gain = max(weight, 1e-6) * (1 + _SATURATION) / (1 + _SATURATION * share)
                scores[entry] = scores.get(entry, 0.0) + gain
        return sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0]))[:DEPTH]

    def lengths(self, ids: Iterable[int]) -> dict[int, int]:
        """See `Index.lengths`."""
        rows = self.db.execute("SELECT id, size FROM words WHERE id = ANY(?::bigint[])", (list(ids),))
        return {row[0]: row[1] for row in rows.fetchall()}

    def _within(self, expression: str, oldest: int, newest: int, limit: int | None) -> _Question:
        """Return the question for an expression and the scope's phrases, about the ids from one to another.

        With a limit, of one word alone, it asks for no more blocks than hold so many of the newest.
        """
        wanted = all_of([expression, *map(quoted, self.scope.phrases)])
        question = _Reading(self.lexer, oldest, newest).read(wanted)
        if question.word is None or limit is None:
            return question
        return _Question(
            "SELECT unnest(entries) AS id FROM (SELECT entries FROM posting WHERE token = ? AND oldest <= ?"
            " AND newest >= ? ORDER BY oldest DESC LIMIT ?) AS blocks",
            (question.word, newest, oldest, limit + 1),  # the newest block may hold newer ones only
        )


def _forms(expression: str) -> list[str]:
    """Return each form that an expression quotes."""
    return [_form_of(sign) for sign in _SIGN.finditer(expression) if sign[1] is not None]


def _form_of(sign: re.Match[str]) -> str:
    return sign[1].replace('""', '"')


class _Reading:
    """One expression, read from its beginning to its end."""

    def __init__(self, lexer: Lexer, oldest: int, newest: int) -> None:
        self._lexer = lexer
        self._range = (newest, oldest)
        self._signs: Iterator[re.Match[str]] = iter(())

    def read(self, expression: str) -> _Question:
        """Return the question for an expression."""
        self._signs = _SIGN.finditer(expression)
        return self._next()

    def _next(self) -> _Question:
        sign = next(self._signs)
        if sign[1] is not None:
            return self._form(_form_of(sign), is_beginning=sign[2] is not None)
        parts, word = [self._next()], "INTERSECT"
        for joint in self._signs:
            if joint[0] == ")":
                break
            word = "UNION" if joint[0] == "OR" else "INTERSECT"
            parts.append(self._next())
        return parts[0] if len(parts) == 1 else _joined(word, parts)

    def _form(self, form: str, *, is_beginning: bool) -> _Question:
        words = self._lexer.of_form(form)
        if not words:
            return _Question(_NOTHING, ())
        if is_beginning:
            return self._beginning(words[-1])
        if len(words) == 1:
            return self._word(words[0])
        phrase = in_a_row(words)
        holding = _joined("INTERSECT", [self._word(word) for word in dict.fromkeys(words)])
        return _Question(
            f"SELECT id FROM words WHERE id IN ({holding.sql}) AND (strpos(body, ?) > 0 OR strpos(parts, ?) > 0)",  # noqa: S608
            (*holding.values, phrase, phrase),
        )

    def _word(self, word: str) -> _Question:
        sql = "SELECT unnest(entries) AS id FROM posting WHERE token = ? AND oldest <= ? AND newest >= ?"
        return _Question(sql, (word, *self._range), word)

    def _beginning(self, word: str) -> _Question:
        sql = (
            "SELECT DISTINCT unnest(entries) AS id FROM posting WHERE token >= ? AND token < ?"
            " AND oldest <= ? AND newest >= ?"
        )
        return _Question(sql, (word, word[:-1] + chr(ord(word[-1]) + 1), *self._range))


def _joined(word: str, parts: list[_Question]) -> _Question:
    sql = f" {word} ".join(f"({part.sql})" for part in parts)
    return _Question(sql, tuple(value for part in parts for value in part.values))
