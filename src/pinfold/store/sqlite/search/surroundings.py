"""What an entry gains by what stands around it: words it lacks, strong entries near by, its conversation as a whole.

A short entry says little by itself: what it is about was said just before, or in the same conversation. The weights
are explained where they are set, see docs/decisions/0015.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from pinfold.store.sqlite.search.index import Index
from pinfold.store.sqlite.search.terms import K1, Holders

_TALK = ("messages", "tool_results")
"""Kinds of entries that follow each other as they were said; pins and pieces of artifacts do not."""

_REACH = 2
"""How far a missing word may stand away: three entries find no more, one finds 1.3 points less."""

_MISSING = 0.3
"""Worth of a missing word in the next entry; 0.2 to 0.4 make no difference, 0 costs 1.5 points."""

_STRONG_REACH = 10
"""How far a strong entry lifts others: 5 to 20 make no difference."""

_STRONG = 0.5
"""The share of the best score from which on an entry is strong: lower ones lift what is about something else."""

_BESIDE_STRONG = 0.3
"""What a strong entry gives to the next one, of what it has above that; more costs where neighbours are unrelated."""

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

    def beside_strong(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Return what entries gain by the strongest one near by, less the further it is."""
        enough = _STRONG * max(scores.values(), default=0.0)
        gains: dict[int, float] = defaultdict(float)
        for strong in (entry for entry, score in scores.items() if score > enough):
            for entry in range(strong - _STRONG_REACH, strong + _STRONG_REACH + 1):
                if entry != strong and entry in scores and self._are_one(strong, entry):
                    gain = _BESIDE_STRONG * (scores[strong] - enough) / abs(entry - strong)
                    gains[entry] = max(gains[entry], gain)
        return gains

    def of_conversations(self, holders: Holders, entries: Iterable[int]) -> dict[int, float]:
        """Return for each of several conversations what the words in these of its entries are worth.

        It is BM25 of conversations: a word in all of them tells nothing, however rare it is in the log.
        """
        held: dict[int, Counter[int]] = defaultdict(Counter)
        for entry in entries:
            held[self.conversation[entry]][holders.of(entry)] += 1
        worth = dict.fromkeys(held, 0.0)
        for place in holders.weights if len(held) > 1 else ():
            counts = {
                one: sum([terms[bits] for bits in terms if bits >> place & 1]) for one, terms in held.items()
            }
            holding = sum(map(bool, counts.values()))
            rarity = max(0.0, math.log((len(held) + 1) / (holding + 0.5)))
            for one, count in counts.items():
                worth[one] += _CONVERSATION * rarity * _saturated(min(count, _COUNTED))
        return worth

    def _are_one(self, entry: int, other: int) -> bool:
        """Whether both were said in the same conversation."""
        talk = self.talk
        return other in talk and entry in talk and self.conversation[entry] == self.conversation[other]


def _saturated(count: int) -> float:
    return count * (K1 + 1) / (count + K1)
