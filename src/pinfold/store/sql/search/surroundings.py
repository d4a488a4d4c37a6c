"""What an entry gains by what stands around it: words that it lacks, and its conversation as a whole.

A short entry says little by itself: what it is about was said just before, or in the same conversation. The weights
are explained where they are set, see docs/decisions/0015.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from pinfold.store.sql.search.index import Index
from pinfold.store.sql.search.terms import K1, Holders

_TALK = ("messages", "tool_results")
"""Kinds of entries that follow each other as they were said; pins and pieces of artifacts do not."""

_REACH = 2
"""How far a missing word may stand away: three entries find no more, one finds 1.3 points less."""

_MISSING = 0.3
"""Worth of a missing word in the next entry; 0.2 to 0.4 make no difference, 0 costs a point."""

_CONVERSATION = 0.6
"""Worth of a conversation's words beside an entry's own; 0.4 to 1.0 make no difference."""

_COUNTED = 3
"""How many entries of a conversation count for a word: so that a long one does not win by its length."""

_STEPS = tuple(step for step in range(-_REACH, _REACH + 1) if step)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """In which conversation entries and their neighbours stand; of pins and the like only the entries themselves."""

    conversation: Mapping[int, int]
    talk: frozenset[int]

    @classmethod
    def of(cls, index: Index, entries: Iterable[int], narrowed: Iterable[int]) -> Self:
        """Read them in one go, with the neighbours of the `narrowed` ones."""
        ids = {*entries, *(entry + step for entry in narrowed for step in _STEPS)}
        rows = index.db.execute(
            "SELECT id, session, kind IN (?, ?) FROM entry WHERE id IN (SELECT value FROM json_each(?))",
            (*_TALK, json.dumps(list(ids))),
        ).fetchall()
        talk = frozenset(entry for entry, _, is_talk in rows if is_talk)
        return cls({entry: session for entry, session, _ in rows}, talk)

    def missing_words(self, holders: Holders, entry: int) -> float:
        """Return what words are worth that an entry lacks and those around it hold."""
        missing = holders.all & ~holders.of(entry)
        near = [step for step in _STEPS if missing and self._are_one(entry, entry + step)]
        return _MISSING * sum(
            [holders.worth(holders.of(entry + step) & missing) / abs(step) for step in near]
        )

    def of_conversations(self, holders: Holders, entries: Iterable[int]) -> dict[int, float]:
        """Return for each entry what the words are worth that its conversation holds in any of these entries.

        It is BM25 of conversations: a word in all of them tells nothing, however rare it is in the log.
        """
        known = [entry for entry in entries if entry in self.conversation]
        held: dict[int, Counter[int]] = defaultdict(Counter)
        for entry in known:
            held[self.conversation[entry]][holders.of(entry)] += 1
        worth = dict.fromkeys(held, 0.0)
        for place in holders.weights if len(held) > 1 else ():
            for one, gain in _rarely_held(place, held):
                worth[one] += _CONVERSATION * gain
        return {entry: worth[self.conversation[entry]] for entry in known}

    def _are_one(self, entry: int, other: int) -> bool:
        """Whether both were said in the same conversation."""
        talk = self.talk
        return other in talk and entry in talk and self.conversation[entry] == self.conversation[other]


def _rarely_held(place: int, held: Mapping[int, Counter[int]]) -> Iterator[tuple[int, float]]:
    """Yield what the term at a place is worth in each conversation."""
    counts = {one: sum([terms[bits] for bits in terms if bits >> place & 1]) for one, terms in held.items()}
    rarity = max(0.0, math.log((len(held) + 1) / (sum(map(bool, counts.values())) + 0.5)))
    for one, count in counts.items():
        counted = min(count, _COUNTED)
        yield one, rarity * counted * (K1 + 1) / (counted + K1)
