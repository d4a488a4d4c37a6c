"""From ranked entries to hits: one for each thing, in its present state, each text once.

Texts can be long and many, so a page reads no more than `READ_CHARS` of them: what is left goes to the next one.
Source: P32.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain, islice

from pinfold.store.query import Line, Query
from pinfold.store.snippet import Sought, snippet, sought
from pinfold.store.sql.database import Database
from pinfold.store.sql.lineage import newest_of
from pinfold.store.sql.search.entries import EntryRow, TextOf, first_entry
from pinfold.store.sql.search.rank import COMPLETE
from pinfold.store.words import fold

READ_CHARS = 10_000_000

_FORMS = 16
_NOTE_CHARS = 80
_PIECES_OF_ONE_ARTIFACT = 2
_EARLIER = -1
_TIME = re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?")
_CHECKED_FOR_LITERALS = 30


@dataclass(frozen=True, slots=True)
class FoundHit:
    """One hit: its entry, one line around the match, that line's number in the entry, and a note if any.

    `matched` is the id of the entry that was found: for a superseded pin not the one that is shown. `tier` is
    a name of `rank.TIERS`. `like` are hits with the same text, or another one whose snippet reads the same.
    """

    entry: EntryRow
    snippet: str
    line: int
    note: str | None
    matched: int
    tier: str = "none"
    like: tuple[FoundHit, ...] = ()


class Page:
    """Hits as they are put together; `consumed` are the entries that went into pages so far.

    `repeats` are hits that read the same as one of an earlier page.
    """

    def __init__(self, db: Database, query: Query, text_of: TextOf) -> None:
        self.hits: list[FoundHit] = []
        self.repeats: list[FoundHit] = []
        self.consumed: set[int] = set()
        self._db = db
        self._sought = _sought(query)
        self._literals = {literal for line in query.lines for literal in line.literals}
        self._read = text_of
        self._texts: dict[int, str] = {}
        self._chars = 0
        self._places: dict[str, int] = {}
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
            if hit is not None and len(self.hits) == limit and self._twin(hit) is None:
                return True
            self._take(row, hit)
        return False

    def skip(self, rows: Iterable[EntryRow]) -> None:
        """Remember what earlier pages showed, best first; of long texts not all, but what they belong to."""
        for row in rows:
            if self._chars <= READ_CHARS:
                self._take(row, self._hit(row))
            else:
                self.consumed.add(row.id)
                self._pieces[self._present(row)[0].pointer] += 1
        self._places = dict.fromkeys(self._places, _EARLIER)
        self.hits, self.repeats = [], []

    def literal_first(self, rows: Iterator[EntryRow], tiers: dict[int, int]) -> Iterator[EntryRow]:
        """Put forward, among the first rows with all words, those that hold `c++` and the like as asked."""
        if not self._literals:
            return rows
        self._forget_texts()
        first = list(islice(rows, _CHECKED_FOR_LITERALS))
        complete = [row for row in first if tiers[row.id] in COMPLETE]
        ordered = iter(sorted(complete, key=lambda row: (tiers[row.id], self._lacking(row))))
        places = {row.id for row in complete}
        return chain((next(ordered) if row.id in places else row for row in first), rows)

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
        found = snippet(self._text(present), self._sought)
        return FoundHit(present, found.text, found.line, note, row.id)

    def _take(self, row: EntryRow, hit: FoundHit | None) -> None:
        self.consumed.add(row.id)
        if hit is None:
            return
        place = self._twin(hit)
        if place is None:
            place = len(self.hits)
            self.hits.append(hit)
        elif place == _EARLIER:
            self.repeats.append(hit)
        else:
            self._join(place, hit)
        self._places |= dict.fromkeys(self._looks(hit), place)
        self._pieces[hit.entry.pointer] += 1

    def _looks(self, hit: FoundHit) -> tuple[str, str]:
        """Return by what a hit is known again: its text, and its snippet without case, breaks and times of day."""
        text = self._text(hit.entry).encode("utf-8", "surrogatepass")
        return blake2b(text).hexdigest(), " ".join(_TIME.sub("", fold(hit.snippet)).split())

    def _twin(self, hit: FoundHit) -> int | None:
        """Return the place of the hit that reads the same, if there is one."""
        return next((self._places[look] for look in self._looks(hit) if look in self._places), None)

    def _join(self, place: int, hit: FoundHit) -> None:
        self.hits[place] = replace(self.hits[place], like=(*self.hits[place].like, hit))
        self._annotate(hit.entry, hit.note)

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
            inside = [each.entry.pointer for each in hit.like]
            if note and hit.note is None and present.pointer in (hit.entry.pointer, *inside):
                whose = f"{present.pointer} " if present.pointer in inside else ""
                self.hits[i] = replace(hit, note=whose + note)


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
