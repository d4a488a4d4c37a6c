"""What the index knows of a line's terms before anything is ranked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.store.query import Term
from pinfold.store.sql.search.index import PROBE, Index, any_of, quoted
from pinfold.store.words import is_run

K1 = 1.2
"""BM25's `k1` in FTS5: how soon another occurrence of a word stops telling more."""

_PREFIX_CHARS = 4
"""The shortest beginning of a word that is looked for: of shorter ones too many words begin with it."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A term's expression and how many entries hold it, as `Index.count` says it.

    `loose` marks a beginning of words, asked because no entry holds the word itself.
    """

    expression: str
    matches: int
    loose: bool = False

    @property
    def is_common(self) -> bool:
        """Whether there are more matches than are counted one by one."""
        return self.matches > PROBE

    def weight(self, entries: int) -> float:
        """Return how telling the term is among so many entries."""
        rarity = math.log((entries + 1) / (self.matches + 0.5))
        return max(0.01, min(rarity, 1.0) if self.is_common else rarity)

    def weight_in_bm25(self, entries: int) -> float:
        """Return the same as FTS5's BM25 sees it: next to nothing from half of the entries on."""
        return max(1e-6, math.log(max(1e-6, entries - self.matches + 0.5) / (self.matches + 0.5)))


def probe_form(index: Index, form: str) -> Probe:
    """Count the entries that hold a form."""
    return Probe(quoted(form), index.count(quoted(form)))


def probe_term(index: Index, term: Term) -> Probe:
    """Count the entries that hold a term or, when there are none, words that begin with it."""
    expression = any_of(map(quoted, term.forms))
    matches = index.count(expression)
    word = term.forms[0]
    if matches or len(word) < _PREFIX_CHARS or is_run(word):
        return Probe(expression, matches)
    beginning = f"{quoted(word)} *"
    return Probe(beginning, index.count(beginning), loose=True)


class Holders:
    """Which entries hold which terms, as sets of bits: bit i stands for the term at place i of the line."""

    def __init__(self, weights: dict[int, float]) -> None:
        self.weights = weights
        self._bits: dict[int, int] = {}
        self._worth: dict[int, float] = {0: 0.0}
        self.all = sum(1 << place for place in weights)

    def weighing(self, weights: dict[int, float]) -> Holders:
        """Return the same entries with other weights for the same terms."""
        other = Holders(weights)
        other._bits = self._bits
        return other

    @property
    def entries(self) -> Iterable[int]:
        """Those that are known to hold any."""
        return self._bits.keys()

    def add(self, place: int, entries: Iterable[int]) -> None:
        """Note that these entries hold the term at a place."""
        bit = 1 << place
        for entry in entries:
            self._bits[entry] = self._bits.get(entry, 0) | bit

    def of(self, entry: int) -> int:
        """Return the terms that an entry is known to hold."""
        return self._bits.get(entry, 0)

    def of_all(self) -> list[int]:
        """Return the entries that are known to hold every term."""
        return [entry for entry, terms in self._bits.items() if terms == self.all]

    def strongest(self, entries: Iterable[int], count: int) -> list[int]:
        """Return so many of the entries that hold the most telling terms, the newest first where they hold the same."""
        alike: dict[int, list[int]] = {}
        for entry in sorted(entries, reverse=True):
            alike.setdefault(self._bits.get(entry, 0), []).append(entry)
        ranked = sorted(alike, key=self.worth, reverse=True)
        return [entry for terms in ranked for entry in alike[terms]][:count]

    def worth(self, terms: int) -> float:
        """Return how telling these terms are together."""
        if terms not in self._worth:
            self._worth[terms] = sum(weight for place, weight in self.weights.items() if terms >> place & 1)
        return self._worth[terms]
