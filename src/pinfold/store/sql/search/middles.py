"""Between the ends of large artifacts, where the index does not reach: looked through piece by piece.

Only where no entry holds all words, newest artifact first, for `LOOK_S` at most: 100 MB of plain text take a quarter of
it. What holds all words of a line is found as if it stood in the index; so is what holds a word that no entry holds.
Source: design 2, search_history.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nsmallest

from pinfold.store.errors import DamagedError
from pinfold.store.query import Line, Query
from pinfold.store.sql.apply import INDEXED_HEAD_BYTES, is_at_an_end
from pinfold.store.sql.search.entries import COLUMNS, EntryRow
from pinfold.store.sql.search.index import Index, quoted
from pinfold.store.sql.search.rank import TIERS, Ranking
from pinfold.store.sql.slices import artifact_by_number, chunks_from
from pinfold.store.words import fold, is_run, stem

LOOK_S = 2.0
"""How long one search looks: what a caller still waits for, where nothing else holds what was asked for."""

PIECES = 2
"""How many pieces of one artifact are found: as many as a page shows."""

_LOOKED_AT = 1_000
_NAMED = 5
_ALL_WORDS, _SOME, _INSIDE, _NONE = map(TIERS.index, ("all words", "most words", "substring", "none"))
_LARGE = f"""
    SELECT {", ".join(f"entry.{column}" for column in COLUMNS.split(", "))} FROM (
        SELECT number, sha256, indexed_bytes FROM artifact WHERE indexed_bytes > 750000
        ORDER BY number DESC LIMIT {_LOOKED_AT}
    ) AS artifact
    JOIN content ON content.sha256 = artifact.sha256
    JOIN entry ON entry.pointer = 'A' || artifact.number AND entry.chunk IS NULL
    WHERE artifact.indexed_bytes < content.size_bytes
"""  # noqa: S608 - the names and the number are ours


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of a middle: its tier, and the share of a line's words that it holds. Its row's id is below 0."""

    row: EntryRow
    tier: int
    share: float


@dataclass(frozen=True, slots=True)
class Middles:
    """The pieces found, best first.

    `through` are the artifacts that were looked through, as far as it took to find `PIECES` with all words; `left` the
    others; of each the newest `_NAMED`.
    """

    pieces: tuple[Piece, ...] = ()
    through: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def rows(self) -> dict[int, EntryRow]:
        """The rows of the pieces, by their ids."""
        return {piece.row.id: piece.row for piece in self.pieces}

    def before(self, ranking: Ranking) -> Ranking:
        """Return a ranking that begins with these pieces; words inside of words only if it is empty."""
        told = [piece for piece in self.pieces if piece.tier != _INSIDE or not ranking.tiers]
        if not told:
            return ranking
        tiers = {piece.row.id: piece.tier for piece in told} | ranking.tiers
        return replace(ranking, tiers=tiers, covered=told[0].share)


def look_between_ends(index: Index, query: Query) -> Middles:
    """Look through the large artifacts in scope, up to one that holds all words."""
    until = time.monotonic() + LOOK_S
    large = _large(index)
    lines = [_asked(index, line) for line in query.lines] if large else []
    found: list[Piece] = []
    through: list[str] = []
    left: list[str] = []
    for head in large:
        if any(piece.tier == _ALL_WORDS for piece in found):
            until = 0.0
        pieces, is_through = _look_through(index, head, lines, until)
        found += pieces
        (through if is_through else left).append(head.pointer)
    found.sort(key=_rank)
    return Middles(tuple(found), tuple(through[:_NAMED]), tuple(left[:_NAMED]))


def _large(index: Index) -> list[EntryRow]:
    """Return the entries of artifacts that are not in the index as a whole, newest first."""
    filters, values = index.scope.on_entry()
    rows = index.db.execute(f"{_LARGE}{filters} ORDER BY artifact.number DESC", values)
    return [EntryRow(*row) for row in rows]


def _look_through(
    index: Index, head: EntryRow, lines: list[_Asked], until: float
) -> tuple[list[Piece], bool]:
    """Return the best pieces of an artifact, and whether as much of it was looked at as that takes."""
    pieces: list[Piece] = []
    is_through = False
    with suppress(DamagedError):
        for chunk, text in _middle(index, head, until):
            tier, lacking = min(asked.held_by(text) for asked in lines)
            if tier != _NONE:
                pieces.append(Piece(replace(head, id=-chunk, chunk=chunk), tier, 1 - lacking))
            if sum(piece.tier == _ALL_WORDS for piece in pieces) == PIECES:
                break
        is_through = time.monotonic() <= until
    return nsmallest(PIECES, pieces, key=_rank), is_through


def _rank(piece: Piece) -> tuple[int, float]:
    return piece.tier, -piece.share


def _middle(index: Index, head: EntryRow, until: float) -> Iterator[tuple[int, str]]:
    """Yield the chunks of an artifact that are not in the index, folded, until the time is over.

    Raises `DamagedError`.
    """
    if time.monotonic() > until:
        return
    artifact = artifact_by_number(index.db, int(head.pointer[1:]))
    for chunk, content in chunks_from(index.db, artifact, INDEXED_HEAD_BYTES):
        if not is_at_an_end(chunk["start"], chunk["size_bytes"], artifact.size_bytes):
            yield chunk["id"], _folded(content.decode("utf-8", "replace"))
        if time.monotonic() > until:
            return


def _folded(text: str) -> str:
    """Return what `fold` returns; ten times faster where only some lines of many have more than ASCII."""
    if text.isascii():
        return text.lower()
    lines = text.split("\n")
    others = iter(fold("\n".join(line for line in lines if not line.isascii())).split("\n"))
    return "\n".join(line.lower() if line.isascii() else next(others) for line in lines)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one line asks for: words with their stems, those of them that no entry holds, and phrases."""

    stems: dict[str, str]
    nowhere: dict[str, str]
    phrases: tuple[str, ...]

    def held_by(self, text: str) -> tuple[int, float]:
        """Return the tier of a text, and which share of the words it lacks."""
        inside = all(stem in text for stem in self.stems.values())
        new = any(stem in text and _stands(word, text) for word, stem in self.nowhere.items())
        if not (inside or new) or not all(_stands(phrase, text) for phrase in self.phrases):
            return _NONE, 1.0
        held = sum(_stands(word, text) for word in self.stems)
        if held == len(self.stems):
            return _ALL_WORDS, 0.0
        return (_SOME, 1 - held / len(self.stems)) if new else (_INSIDE, 0.0)


def _asked(index: Index, line: Line) -> _Asked:
    stems = {term.forms[0]: stem(term.forms[0]) for term in line.terms}
    anywhere = index.of_any_time_and_path
    nowhere = {word: stems[word] for word in stems if not anywhere.newest(quoted(word), 1)}
    return _Asked(stems, nowhere, line.phrases)


def _stands(form: str, text: str) -> bool:
    """Whether the words of a form stand in a row, with anything but letters and digits around and between them."""
    if is_run(form):
        return form in text
    row = r"[\W_]*".join(map(re.escape, form.split()))
    return re.search(rf"(?<![^\W_]){row}(?![^\W_])", text) is not None
