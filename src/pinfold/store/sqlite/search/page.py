"""From ranked entries to hits: one for each thing, in its present state, each text once.

Texts can be long and many, so a page reads no more than `READ_CHARS` of them: what is left goes to the next one.
Source: P32.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pinfold.store.query import Line, Query
from pinfold.store.snippet import Sought, snippet, sought
from pinfold.store.sqlite.lineage import newest_of
from pinfold.store.sqlite.search.entries import EntryRow, TextOf, first_entry
from pinfold.store.sqlite.search.rank import TIERS
from pinfold.store.words import fold

READ_CHARS = 10_000_000

_FORMS = 16
_NOTE_CHARS = 80
_PIECES_OF_ONE_ARTIFACT = 2
_SAME_SNIPPETS = 2
_CHECKED_FOR_LITERALS = 30
_COMPLETE = (TIERS.index("exact phrase"), TIERS.index("all words"))


@dataclass(frozen=True, slots=True)
class FoundHit:
    """One hit: its entry, one line around the match, that line's number in the entry, and a note if any.

    `matched` is the id of the entry that was found: for a superseded pin not the one that is shown. `tier` is
    a name of `rank.TIERS`.
    """

    entry: EntryRow
    snippet: str
    line: int
    note: str | None
    matched: int
    tier: str = "none"


class Page:
    """Hits as they are put together; `consumed` are the entries that went into pages so far."""

    def __init__(self, db: sqlite3.Connection, query: Query, text_of: TextOf) -> None:
        self.hits: list[FoundHit] = []
        self.consumed: set[int] = set()
        self._db = db
        self._sought = _sought(query)
        self._literals = {literal for line in query.lines for literal in line.literals}
        self._read = text_of
        self._texts: dict[int, str] = {}
        self._chars = 0
        self._seen: Counter[str] = Counter()
        self._pieces: Counter[str] = Counter()

    def fill(self, rows: Iterable[EntryRow], limit: int) -> bool:
        """Add up to `limit` hits from rows in order; return whether there would have been another one.

        Fewer, and at least one row, where the texts are long: then there may be others.
        """
        self._forget_texts()
        for row in rows:
            if self._chars > READ_CHARS:
                return True
            hit = self._hit(row)
            if hit is not None and len(self.hits) == limit:
                return True
            self._take(row, hit)
        return False

    def skip(self, rows: Iterable[EntryRow]) -> None:
        """Remember what earlier pages showed; of long texts not all."""
        for row in rows:
            self._take(row, self._hit(row) if self._chars <= READ_CHARS else None)
        self.hits = []

    def literal_first(self, rows: list[EntryRow], tiers: dict[int, int]) -> list[EntryRow]:
        """Put forward, among the first rows with all words, those that hold `c++` and the like as asked."""
        if not self._literals:
            return rows
        self._forget_texts()
        count = sum(tiers[row.id] in _COMPLETE for row in rows[:_CHECKED_FOR_LITERALS])
        return sorted(rows[:count], key=lambda row: (tiers[row.id], self._lacking(row))) + rows[count:]

    def _lacking(self, row: EntryRow) -> int:
        if self._chars > READ_CHARS:
            return len(self._literals)
        text = fold(self._text(row))
        return sum(literal not in text for literal in self._literals)

    def _text(self, row: EntryRow) -> str:
        if row.id not in self._texts:
            self._texts[row.id] = self._read(row)
            self._chars += len(self._texts[row.id])
        return self._texts[row.id]

    def _forget_texts(self) -> None:
        self._texts.clear()
        self._chars = 0

    def _hit(self, row: EntryRow) -> FoundHit | None:
        """Return the hit for a row, or None if it adds nothing to those before it."""
        present, note = self._present(row)
        if self._pieces[present.pointer] >= (_PIECES_OF_ONE_ARTIFACT if present.chunk is not None else 1):
            self._annotate(present, note)
            return None
        text = self._text(present)
        found = snippet(text, self._sought)
        if note is None and (self._seen[text] or self._seen[found.text] == _SAME_SNIPPETS):
            return None
        return FoundHit(present, found.text, found.line, note, row.id)

    def _take(self, row: EntryRow, hit: FoundHit | None) -> None:
        self.consumed.add(row.id)
        if hit is not None:
            self.hits.append(hit)
            self._seen.update({self._text(hit.entry), hit.snippet})
            self._pieces[hit.entry.pointer] += 1

    def _present(self, row: EntryRow) -> tuple[EntryRow, str | None]:
        """Return what stands for a row now: for a superseded pin its replacement, with a note."""
        if not row.pointer.startswith("P"):
            return row, None
        number = int(row.pointer[1:])
        pin = self._db.execute("SELECT superseded_by, text FROM pin WHERE number = ?", (number,)).fetchone()
        if pin is None or pin[0] is None:
            return row, None
        present = first_entry(self._db, f"P{newest_of(self._db, pin[0])}")
        if present is None:
            return row, f"replaced by P{pin[0]}"
        return present, f"replaces {row.pointer}: {snippet(pin[1], self._sought, _NOTE_CHARS).text}"

    def _annotate(self, present: EntryRow, note: str | None) -> None:
        for i, hit in enumerate(self.hits):
            if note and hit.note is None and hit.entry.pointer == present.pointer:
                self.hits[i] = replace(hit, note=note)


def _sought(query: Query) -> Sought:
    """Return what to show: quoted phrases, then whole lines, then literals, then longer words before shorter."""
    phrases = [form for line in query.lines for phrase in line.phrases for form in _spelled(line, phrase)]
    wholes = [form for line in query.lines for form in _spelled(line, line.whole)]
    words = [form for line in query.lines for form in _word_forms(line)]
    forms = dict.fromkeys([*wholes, *phrases, *sorted(words, key=len, reverse=True)])
    literals = dict.fromkeys(literal for line in query.lines for literal in line.literals)
    return sought((phrases[:_FORMS], wholes[:_FORMS]), list(literals)[:_FORMS], list(forms)[:_FORMS])


def _spelled(line: Line, form: str) -> list[str]:
    """Return a form, and the same with its identifiers in pieces."""
    pieces = {term.forms[0]: term.forms[-1] for term in line.terms}
    return list(dict.fromkeys((form, " ".join(pieces.get(token, token) for token in form.split()))))


def _word_forms(line: Line) -> list[str]:
    return [form for term in line.terms for form in term.forms] + list(line.hints)
