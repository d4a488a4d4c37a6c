"""The tier of most words: BM25 of the rarer words, raised by what BM25 does not see.

An entry gains by words that stand side by side as they were asked, by words in its first line, which says what the
rest is about, and by what stands around it (`surroundings.py`).

The weights were chosen on one half of two public data sets and are reported from the other; see
docs/decisions/0015 and docs/performance.md, Finding. Points are of hit@5 there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pinfold.store.query import Line
from pinfold.store.sql.search.index import (
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
from pinfold.store.sql.search.reach import from_what_is_held
from pinfold.store.sql.search.surroundings import Surroundings
from pinfold.store.sql.search.terms import K1, Holders, Probe, probe_form
from pinfold.store.words import folded_words

_POOL = 20_000
"""How many matches BM25 is made of, together: commoner words only raise what the rarer ones found."""

_TERMS = 20
"""How many words of a line count, the rarest: a paragraph pasted as a query takes no longer than a question."""

_NARROWED = 100
"""For how many of the best their neighbours are looked at."""

_HEADED = 20
"""Of how many of the best the first line is read: it takes the whole text, and those behind are seldom shown."""

_LENGTH = 0.75
"""BM25's `b` in FTS5: its sum, corrected to a lower one afterwards, found a point less of commits."""

_SIDE_BY_SIDE = 1.0
"""Worth of two words as they were asked, of the rarer one's; 0.7 to 1.5 make no difference, 0 costs 2 points."""

_HEAD = 0.5
"""Worth of a word in the first line, once more; 0.4 to 0.8 make no difference, 0.2 costs 1.5 points on commits."""

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
    scores = _best(index, holders, considered, pool)
    with_all = holders.of_all() if index == whole and len(considered) == len(probes) else None
    pairs = _side_by_side(index, line, considered, holders, sorted({*scores, *(with_all or ())}))
    narrowed = list(scores)[:_NARROWED]
    around = Surroundings.of(index, scores, narrowed)
    for worth, entries in pairs:
        _add(scores, dict.fromkeys(entries & scores.keys(), worth))
    _add(scores, {entry: around.missing_words(holders, entry) for entry in narrowed})
    _add(scores, _heads(line, holders, heads_of(_first(scores, _HEADED))))
    _add(scores, around.of_conversations(holders, scores))
    best = [(entry, scores[entry]) for entry in _first(scores, DEPTH)]
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


def _first(scores: dict[int, float], count: int) -> list[int]:
    """Return the best entries, of equals the newest first."""
    return sorted(scores, key=lambda entry: (-scores[entry], -entry))[:count]


def _add(scores: dict[int, float], gains: Mapping[int, float]) -> None:
    for entry, gain in gains.items():
        scores[entry] += gain


def _best(
    index: Index, holders: Holders, considered: dict[int, Probe], pool: list[Probe]
) -> dict[int, float]:
    """Return the best by BM25 among those that hold the most telling words, best first.

    BM25 looks at each match of each word in the whole log, only to find that a common one tells little: where there
    is one, each entry is scored as if it held each of its words once. And it takes a word in half of the entries for
    worth nothing, which it is not beside others as common, such as the names of two who talk.
    """
    hints = [probe.expression for probe in pool if probe not in considered.values()]
    ids = {*holders.entries, *(entry for hint in hints for entry in index.newest(hint, PROBE))}
    telling = holders.strongest(ids, CANDIDATES)
    if any(probe.is_common or index.is_common(probe.expression) for probe in pool):
        return _in_full(index, holders, dict.fromkeys(telling, 0.0))
    entries = index.scope.newest
    lost = {
        place: probe.weight(entries) - (probe.weight_in_bm25(entries) if probe in pool else 0.0)
        for place, probe in considered.items()
    }
    found = dict(index.best(any_of(probe.expression for probe in pool), telling))
    return _in_full(index, holders.weighing(lost), found)


def _in_full(index: Index, lost: Holders, found: dict[int, float]) -> dict[int, float]:
    """Return the best with what BM25 `lost`, as it would count a word that stands once in an entry."""
    lengths = index.lengths(found)
    mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    scores = {}
    for entry, length in lengths.items():
        damping = 1 + K1 * (1 - _LENGTH + _LENGTH * length / mean)
        scores[entry] = found[entry] + (K1 + 1) * lost.worth(lost.of(entry)) / damping
    return {entry: scores[entry] for entry in _first(scores, DEPTH)}


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


def _heads(line: Line, holders: Holders, heads: Mapping[int, str]) -> dict[int, float]:
    """Return what the words in first lines are worth."""
    forms = {place: [*map(folded_words, line.terms[place].forms)] for place in holders.weights}
    worth = {}
    for entry, head in heads.items():
        words = folded_words(head)
        held = (1 << place for place, alike in forms.items() if any(form <= words for form in alike))
        worth[entry] = _HEAD * holders.worth(sum(held))
    return worth
