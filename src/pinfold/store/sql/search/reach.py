"""How far back a line is looked for: everywhere, or among the newest entries if all its words are common.

Entries with all of some words are found in as many steps as the rarest has matches, times the words. Where that is
too much, only so many of the newest entries are looked at that it takes about `WORK` steps. Source: design 6.
"""

from __future__ import annotations

from collections.abc import Iterable

from pinfold.store.query import MAX_WORDS, Line
from pinfold.store.sql.search.index import PROBE, WORK, Index, quoted
from pinfold.store.sql.search.terms import Probe, probe_term


def within_reach(whole: Index, line: Line) -> tuple[Index, list[Probe]]:
    """Return where a line is looked for, and what the index knows of its terms."""
    index = whole.of_any_time_and_path
    for phrase in line.phrases:
        tokens = [*dict.fromkeys(phrase.split())][:MAX_WORDS]
        index = _narrowed(index, [index.count(quoted(token)) for token in tokens])
    index = index.holding(line.phrases)
    probes = [probe_term(index, term) for term in line.terms]
    oldest = _narrowed(index, [probe.matches for probe in probes if probe.matches]).scope.oldest
    return whole.holding(line.phrases).reaching_back_to(oldest), probes


def from_what_is_held(index: Index, rarest: list[Probe]) -> tuple[Index, list[Probe]]:
    """Return where words, rarest first, are looked for by time or path, and those from the first one held there.

    Beside a rare word any other costs little; without it, only so many of the newest entries can be looked at.
    """
    if index.of_any_time_and_path == index:
        return index, rarest
    for place, probe in enumerate(rarest):
        reach = _narrowed(index.reaching_back_to(0), [each.matches for each in rarest[place:]])
        index = index.reaching_back_to(max(index.scope.oldest, reach.scope.oldest))
        if index.newest(probe.expression, 1):
            return index, rarest[place:]
    return index, []


def _narrowed(index: Index, matches: Iterable[int]) -> Index:
    """Return the index as far back as words with so many matches each can be looked for together."""
    counts = list(matches)
    steps = min(counts, default=0) * len(counts)
    if min(counts, default=0) <= PROBE or steps <= WORK:
        return index
    scope = index.scope
    entries = scope.newest - scope.oldest + 1
    return index.reaching_back_to(max(scope.oldest, scope.newest - WORK * entries // steps))
