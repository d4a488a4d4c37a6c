"""The tier of most words: BM25 of the rarer words, raised by what BM25 does not see.

An entry gains by how much of the line it covers, by words that stand side by side as they were asked, by words
in its first line, which says what the rest is about, and by missing words that stand just before or behind it
in the same conversation.

The weights were chosen on one half of two public data sets and are reported from the other; see
docs/performance.md, Finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pinfold.store.query import Line
from pinfold.store.sqlite.search.index import (
    CANDIDATES,
    DEPTH,
    PROBE,
    WORK,
    Index,
    Scored,
    all_of,
    any_of,
    quoted,
)
from pinfold.store.sqlite.search.reach import from_what_is_held
from pinfold.store.sqlite.search.terms import Holders, Probe, probe_form
from pinfold.store.words import folded_words

_POOL = 20_000
_TERMS = 20
_NARROWED = 100
_HEADED = 30
_COVERAGE, _SIDE_BY_SIDE, _NEARBY, _HEAD = 0.5, 1.0, 0.3, 0.4
_REACH = 2
_STEPS = tuple(step for step in range(-_REACH, _REACH + 1) if step)
_TALK = ("messages", "tool_results")

HeadsOf = Callable[[list[int]], dict[int, str]]
"""Gives the first lines of entries that have one of their own; a piece out of an artifact has none."""


@dataclass(frozen=True, slots=True)
class MostWords:
    """Entries with some of the words, best first; `bounded` says that only the newest matches were looked at.

    Where the index told it on the way, `with_all` are all entries with each of the words, and `in_a_row` those of them
    that may hold the line as a phrase.
    """

    scored: list[Scored]
    bounded: bool
    with_all: list[int] | None = None
    in_a_row: set[int] | None = None


def most_words(whole: Index, line: Line, probes: list[Probe], heads_of: HeadsOf) -> MostWords:
    """Return entries with some of the words.

    Words beyond the rarest that together match 20,000 entries only raise what the rarer ones found.
    """
    index, rarest = from_what_is_held(whole, _rarest(whole, line, probes))
    known = _known(rarest)
    if not known:
        return MostWords([], index.scope.oldest > 0)
    bounded = known[0].is_common
    pool = _pool(known)
    if bounded:
        index = index.reaching_back_to(min(index.latest(pool[0].expression), default=index.scope.newest))
    considered = {place: probe for place, probe in enumerate(probes) if probe in known}
    holders = Holders({place: probe.weight(index.scope.newest) for place, probe in considered.items()})
    _fill(index, holders, considered, pool)
    found = _best(index, holders, considered, pool)
    ids = [entry for entry, _ in found]
    with_all = holders.of_all() if index == whole and len(considered) == len(probes) else None
    pairs = _side_by_side(index, line, considered, holders, sorted({*ids, *(with_all or ())}))
    nearby = _nearby(index, holders, ids[:_NARROWED])
    total = holders.worth(holders.all) or 1.0
    scores = {
        entry: score * (1 + _COVERAGE * holders.worth(holders.of(entry)) / total)
        + sum(worth for worth, entries in pairs if entry in entries)
        + nearby.get(entry, 0.0)
        for entry, score in found
    }
    first = sorted(scores, key=lambda entry: (-scores[entry], -entry))[:_HEADED]
    for entry, head in heads_of(first).items():
        scores[entry] += _HEAD * _worth_of_head(head, line, holders)
    best = sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0]))[:DEPTH]
    if with_all is None:
        return MostWords(best, bounded)
    return MostWords(best, bounded, with_all, set(with_all).intersection(*(entries for _, entries in pairs)))


def _rarest(index: Index, line: Line, probes: list[Probe]) -> list[Probe]:
    """Return the rarest of the words and hints that stand at any time and path, rarest first."""
    hints = [probe_form(index.of_any_time_and_path, hint) for hint in line.hints]
    found = [probe for probe in (*probes, *hints) if probe.matches]
    return sorted(found, key=lambda probe: probe.matches)[:_TERMS]


def _known(rarest: list[Probe]) -> list[Probe]:
    """Return as many of the rarest words as `WORK` can bear."""
    known: list[Probe] = []
    work = pool = 0
    for probe in rarest:
        beside = probe.is_common and known
        work += pool if beside else probe.matches
        pool += 0 if beside else probe.matches
        if known and work > WORK:
            break
        known.append(probe)
    return known


def _best(index: Index, holders: Holders, considered: dict[int, Probe], pool: list[Probe]) -> list[Scored]:
    """Return the best by BM25 among those that hold the most telling words.

    BM25 looks at each match of each word in the whole log, only to find that a common one tells little: where there
    is one, each entry is scored as if it held each of its words once.
    """
    hints = [probe.expression for probe in pool if probe not in considered.values()]
    ids = {*holders.entries, *(entry for hint in hints for entry in index.newest(hint, PROBE))}
    telling = holders.strongest(ids, CANDIDATES)
    if any(probe.is_common or index.is_common(probe.expression) for probe in pool):
        return _by_length(index, holders, telling)
    return index.best(any_of(probe.expression for probe in pool), telling)


def _by_length(index: Index, holders: Holders, ids: list[int]) -> list[Scored]:
    lengths = index.lengths(ids)
    mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    scored = (
        (entry, holders.worth(holders.of(entry)) * 2.2 / (1.3 + 0.9 * length / mean))
        for entry, length in lengths.items()
    )
    return sorted(scored, key=lambda pair: (-pair[1], -pair[0]))[:DEPTH]


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


def _fill(index: Index, holders: Holders, considered: dict[int, Probe], pool: list[Probe]) -> None:
    """Note who holds what; of a common term only among what the pool matches."""
    anything = any_of(probe.expression for probe in pool)
    for place, probe in considered.items():
        if probe.is_common and probe not in pool:
            holders.add(place, index.every(all_of([anything, probe.expression])))
        else:
            holders.add(place, index.every(probe.expression))


def _side_by_side(
    index: Index, line: Line, considered: dict[int, Probe], holders: Holders, ids: list[int]
) -> list[tuple[float, set[int]]]:
    """Return, for each two words that stand side by side in the line, what that is worth and where they do."""
    found = []
    for left, right, form in line.neighbours[:_TERMS]:
        pair = [considered[place] for place in (left, right) if place in considered]
        if len(pair) < 2 or all(probe.is_common for probe in pair):
            continue
        worth = _SIDE_BY_SIDE * min(holders.weights[left], holders.weights[right])
        found.append((worth, set(index.within(quoted(form), ids))))
    return found


def _worth_of_head(head: str, line: Line, holders: Holders) -> float:
    words = folded_words(head)
    held = (
        1 << place
        for place in holders.weights
        if any(folded_words(form) <= words for form in line.terms[place].forms)
    )
    return holders.worth(sum(held))


def _nearby(index: Index, holders: Holders, found: list[int]) -> dict[int, float]:
    """Return what missing words in the entries around are worth, for messages and tool results."""
    talk = _conversations(index, {entry + step for entry in found for step in (0, *_STEPS)})
    bonus = {}
    for entry in talk.keys() & set(found):
        missing = holders.all & ~holders.of(entry)
        around = [step for step in _STEPS if talk.get(entry + step) == talk[entry]]
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
