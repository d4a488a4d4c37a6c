"""The tier of most words: BM25 of the rarer words, raised by what BM25 does not see.

An entry gains by how much of the line it covers, by words that stand side by side as they were asked, and by
missing words that stand just before or behind it in the same conversation.

The weights were chosen on one half of two public data sets. On the other half they beat plain BM25 on
questions about dialogues (66.7 against 61.6 % with a right entry among five), not on changelog entries and
their commits (62.0 against 65.1), where dropping equal texts and demanding quoted phrases also cost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pinfold.store.query import Line
from pinfold.store.sqlite.search.index import PROBE, Index, Scored, all_of, any_of, quoted
from pinfold.store.sqlite.search.terms import Holders, Probe, probe_form

_POOL = 20_000
_TERMS = 20
_NARROWED = 100
_COVERAGE, _SIDE_BY_SIDE, _NEARBY = 1.5, 1.0, 0.3
_REACH = 2
_TALK = ("messages", "tool_results")


def most_words(index: Index, line: Line, probes: list[Probe]) -> tuple[list[Scored], bool]:
    """Return entries with some of the words, best first, and whether only the newest matches were looked at.

    Words beyond the rarest that together match 20,000 entries only raise what the rarer ones found.
    """
    known = _known(index, line, probes)
    if not known:
        return [], False
    bounded = known[0].is_common
    pool = any_of(probe.expression for probe in _pool(known))
    floor = min(index.recent(pool), default=0) if bounded else 0
    found = index.best(pool, floor)
    considered = {place: probe for place, probe in enumerate(probes) if probe in known}
    holders = Holders({place: probe.weight(index.scope.newest) for place, probe in considered.items()})
    _fill(index, holders, considered, pool, floor)
    beside = _side_by_side(index, line, considered, holders)
    nearby = _nearby(index, holders, [entry for entry, _ in found[:_NARROWED]])
    total = holders.worth(holders.all) or 1.0
    scores = {
        entry: score * (1 + _COVERAGE * holders.worth(holders.of(entry)) / total)
        + beside.get(entry, 0.0)
        + nearby.get(entry, 0.0)
        for entry, score in found
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0])), bounded


def _known(index: Index, line: Line, probes: list[Probe]) -> list[Probe]:
    """Return the rarest of the words and hints that stand anywhere, rarest first."""
    hints = [probe_form(index, hint) for hint in line.hints]
    found = [probe for probe in (*probes, *hints) if probe.matches]
    return sorted(found, key=lambda probe: probe.matches)[:_TERMS]


def _pool(known: list[Probe]) -> list[Probe]:
    """Return the rarest terms that together match few enough entries; only the rarest if all are common."""
    pool = known[:1]
    total = pool[0].matches
    for probe in known[1:]:
        total += probe.matches
        if probe.is_common or total > _POOL:
            break
        pool.append(probe)
    return pool


def _fill(index: Index, holders: Holders, considered: dict[int, Probe], pool: str, floor: int) -> None:
    """Note who holds what; of a common term only among what the pool matches from id `floor` on."""
    for place, probe in considered.items():
        if probe.is_common:
            holders.add(place, index.newest(all_of([pool, probe.expression]), _POOL, floor))
        else:
            holders.add(place, index.newest(probe.expression, PROBE))


def _side_by_side(
    index: Index, line: Line, considered: dict[int, Probe], holders: Holders
) -> dict[int, float]:
    bonus: dict[int, float] = {}
    for left, right, form in line.neighbours[:_TERMS]:
        pair = [considered[place] for place in (left, right) if place in considered]
        if len(pair) < 2 or all(probe.is_common for probe in pair):
            continue
        worth = _SIDE_BY_SIDE * min(holders.weights[left], holders.weights[right])
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
