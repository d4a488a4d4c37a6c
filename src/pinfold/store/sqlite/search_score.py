"""The tier of most words: BM25 of the rarer words, raised by what BM25 does not see.

An entry gains by how much of the line it covers, by words that stand side by side as they were asked, and by missing
words that stand just before or behind it in the same conversation. The weights were chosen on one half of two public
data sets (questions about dialogues, changelog entries and their commits) and checked on the other half.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from pinfold.store.query import Line
from pinfold.store.sqlite.search_index import PROBE, Index, Scored, any_of, quoted
from pinfold.store.sqlite.search_terms import Holders, Probe, probe_form

_POOL = 10_000
_TERMS = 16
_COMMON_TERMS = 3
_NARROWED = 100
_COVERAGE, _SIDE_BY_SIDE, _NEARBY = 1.5, 1.0, 0.3
_REACH = 2
_TALK = ("messages", "tool_results")


def most_words(index: Index, line: Line, probes: list[Probe]) -> tuple[list[Scored], bool]:
    """Return entries with some of the words, best first, and whether only the newest matches were looked at.

    Words beyond the rarest that together match 10,000 entries only raise what the rarer ones found.
    """
    hints = [probe_form(index, hint) for hint in line.hints]
    known = sorted((probe for probe in probes + hints if probe.matches), key=lambda probe: probe.matches)[
        :_TERMS
    ]
    if not known:
        return [], False
    pool = _pool(known)
    found, bounded = index.best(any_of(probe.expression for probe in pool), few=not pool[0].is_common)
    considered = {i: probe for i, probe in enumerate(probes) if probe in known}
    ids = [entry for entry, _ in found]
    weights = {place: probe.weight(index.scope.newest) for place, probe in considered.items()}
    holders = _holders(index, considered, weights, ids)
    bonus = Counter(_side_by_side(index, line, considered, weights))
    bonus.update(_nearby(index, holders, ids[:_NARROWED]))
    total = holders.worth(holders.all) or 1.0
    scores = {
        entry: score * (1 + _COVERAGE * holders.worth(holders.of(entry)) / total) + bonus[entry]
        for entry, score in found
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0])), bounded


def _pool(known: list[Probe]) -> list[Probe]:
    """Return the rarest terms that together match few enough entries; of common ones only, the rarest."""
    if known[0].is_common:
        return known[:_COMMON_TERMS]
    pool: list[Probe] = []
    total = 0
    for probe in known:
        total += probe.matches
        if probe.is_common or (pool and total > _POOL):
            break
        pool.append(probe)
    return pool


def _holders(
    index: Index, considered: dict[int, Probe], weights: dict[int, float], found: list[int]
) -> Holders:
    holders = Holders(weights)
    for place, probe in considered.items():
        if probe.is_common:
            holders.add(place, index.among(probe.expression, found[:_NARROWED]))
        else:
            holders.add(place, index.newest(probe.expression, PROBE))
    return holders


def _side_by_side(
    index: Index, line: Line, considered: dict[int, Probe], weights: dict[int, float]
) -> dict[int, float]:
    bonus: dict[int, float] = {}
    for left, right, form in line.neighbours[:_TERMS]:
        pair = [considered[place] for place in (left, right) if place in considered]
        if len(pair) < 2 or all(probe.is_common for probe in pair):
            continue
        worth = _SIDE_BY_SIDE * min(weights[left], weights[right])
        for entry in index.newest(quoted(form), PROBE):
            bonus[entry] = bonus.get(entry, 0.0) + worth
    return bonus


def _nearby(index: Index, holders: Holders, found: list[int]) -> dict[int, float]:
    """Return what missing words in the entries around are worth, for messages and tool results."""
    steps = [step for step in range(-_REACH, _REACH + 1) if step]
    talk = _conversations(index, {entry + step for entry in found for step in (0, *steps)})
    bonus = {}
    for entry in talk.keys() & set(found):
        missing = holders.all & ~holders.of(entry)
        around = [step for step in steps if talk.get(entry + step) == talk[entry]]
        more = sum(holders.worth(holders.of(entry + step) & missing) / abs(step) for step in around)
        bonus[entry] = _NEARBY * more
    return bonus


def _conversations(index: Index, ids: Iterable[int]) -> dict[int, int]:
    """Return the session of each entry that was said or printed."""
    rows = index.db.execute(
        "SELECT id, session FROM entry WHERE id IN (SELECT value FROM json_each(?)) AND kind IN (?, ?)",
        (json.dumps(list(ids)), *_TALK),
    )
    return {row[0]: row[1] for row in rows}
