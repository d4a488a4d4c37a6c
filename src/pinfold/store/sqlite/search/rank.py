"""One query, ranked in tiers: entries with the whole line, with all its words, with the most telling ones."""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.store.query import Line, Query
from pinfold.store.sqlite.search.index import DEPTH, NEWEST, Index, all_of, quoted
from pinfold.store.sqlite.search.score import most_words
from pinfold.store.sqlite.search.terms import Probe, probe_term

_FUSION = 60

TIERS = ("exact phrase", "all words", "most words", "substring", "none")


@dataclass(frozen=True, slots=True)
class Ranking:
    """Entry ids, best first, each with the place of its tier in `TIERS`.

    `covered` is the share of the terms that the first one holds; `bounded` says that only the newest matches
    counted.
    """

    tiers: dict[int, int]
    covered: float = 0.0
    bounded: bool = False

    @property
    def order(self) -> list[int]:
        """The entry ids, best first."""
        return list(self.tiers)

    @property
    def tier(self) -> str:
        """The name of the first one's tier."""
        return TIERS[next(iter(self.tiers.values()), -1)]


def rank_matches(index: Index, query: Query) -> Ranking:
    """Rank what is found for each line; several lines are fused by their ranks."""
    rankings = [_rank_line(index, line) for line in query.lines]
    found = [ranking for ranking in rankings if ranking.tiers]
    bounded = any(ranking.bounded for ranking in rankings)
    if len(found) < 2:
        return found[0] if found else Ranking({}, bounded=bounded)
    worth: dict[int, float] = {}
    tiers: dict[int, int] = {}
    for ranking in found:
        for place, (entry, tier) in enumerate(ranking.tiers.items()):
            worth[entry] = worth.get(entry, 0.0) + 1 / (_FUSION + place)
            tiers[entry] = min(tier, tiers.get(entry, tier))
    order = sorted(worth, key=lambda entry: (-worth[entry], -entry))
    covered = max((ranking.covered for ranking in found if ranking.order[0] == order[0]), default=0.0)
    return Ranking({entry: tiers[entry] for entry in order}, covered or found[0].covered, bounded)


def _rank_line(whole: Index, line: Line) -> Ranking:
    index = whole.holding(line.phrases)
    probes = [probe_term(index, term) for term in line.terms]
    some, bounded = most_words(index, line, probes)
    lists = [*_complete(index, line, probes, dict(some)), [entry for entry, _ in some]]
    places = (0, 1, 2) if any(probe.matches and not probe.loose for probe in probes) else (0, 1, 3)
    tiers: dict[int, int] = {}
    for place, found in zip(places, lists, strict=True):
        for entry in found:
            tiers.setdefault(entry, place)
    if not tiers:
        return Ranking({})
    bounded = bounded or all(probe.is_common for probe in probes)
    return Ranking(tiers, _covered(index, probes, next(iter(tiers))), bounded)


def _complete(index: Index, line: Line, probes: list[Probe], scores: dict[int, float]) -> list[list[int]]:
    """Return what holds the line as a phrase, and what holds all its words."""
    if not all(probe.matches and not probe.loose for probe in probes):
        return [[], []]
    every = all_of(probe.expression for probe in probes)
    common = all(probe.is_common for probe in probes)
    whole = index.recent(every) if common else index.newest(every, NEWEST)
    in_a_row = index.newest(quoted(line.whole), NEWEST, min(whole, default=0) if common else 0)
    # Another pass of BM25 would read all matches of the commonest word.
    return [
        sorted(ids, key=lambda entry: (-scores.get(entry, 0.0), -entry))[:DEPTH] for ids in (in_a_row, whole)
    ]


def _covered(index: Index, probes: list[Probe], entry: int) -> float:
    held = sum(bool(index.among(probe.expression, [entry])) for probe in probes if probe.matches)
    return held / len(probes)
