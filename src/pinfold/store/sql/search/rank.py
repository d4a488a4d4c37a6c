"""One query, ranked in tiers: entries with the whole line, with all its words, with the most telling ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from pinfold.store.query import Line, Query, Unit
from pinfold.store.search_results import COMPLETE_TIERS, LEARNED_TIER
from pinfold.store.sql.search.index import DEPTH, Index, Scored, all_of, any_of, quoted
from pinfold.store.sql.search.reach import within_reach
from pinfold.store.sql.search.score import HeadsOf, MostWords, most_words
from pinfold.store.sql.search.terms import Probe

_FUSION = 60
"""How little the first places of one phrasing outweigh the next ones, as reciprocal ranks are commonly fused."""

TIERS = ("exact phrase", "all words", "most words", "substring", "word parts", LEARNED_TIER, "none")
COMPLETE = tuple(map(TIERS.index, COMPLETE_TIERS))
_SOME, _INSIDE, _PARTS = (TIERS.index(name) for name in ("most words", "substring", "word parts"))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Entry ids, best first, each with the place of its tier in `TIERS`.

    `covered` is the share of the words that the first one holds; `bounded` says that only the newest matches
    counted. What was found by some words may hold pieces of them only: `words` are the index's expressions for
    whole words, rarest first, `beginnings` those for words that begin with one; see `tier_names`.
    """

    tiers: dict[int, int]
    covered: float = 0.0
    bounded: bool = False
    words: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()

    @property
    def order(self) -> list[int]:
        """The entry ids, best first."""
        return list(self.tiers)

    @property
    def is_complete(self) -> bool:
        """Whether any entry holds all words."""
        return any(tier in COMPLETE for tier in self.tiers.values())

    @property
    def only_parts(self) -> bool:
        """Whether no entry holds a word, nor one that begins with it."""
        return not (self.words or self.beginnings)


def tier_names(index: Index, ranking: Ranking, ids: list[int]) -> dict[int, str]:
    """Return the name of each entry's tier; of those found by some words, by what they hold of them."""
    some = [entry for entry in ids if entry > 0 and ranking.tiers[entry] == _SOME]
    held = _holding_any(index, ranking.words, some)
    begun = _holding_any(index, ranking.beginnings, some)
    places = dict.fromkeys(some, _PARTS) | dict.fromkeys(begun, _INSIDE) | dict.fromkeys(held, _SOME)
    return {entry: TIERS[places.get(entry, ranking.tiers[entry])] for entry in ids}


def _holding_any(index: Index, expressions: tuple[str, ...], entries: list[int]) -> set[int]:
    """Return those of the entries that match any of these; quickly so, where the first ones are rare and match most."""
    held: set[int] = set()
    for expression in expressions:
        if rest := set(entries) - held:
            held |= index.among(expression, rest)
    return held


def rank_matches(index: Index, query: Query, heads_of: HeadsOf) -> Ranking:
    """Rank what is found for each line; several lines are fused by their ranks."""
    rankings = [_rank_line(index, line, heads_of) for line in query.lines]
    found = [ranking for ranking in rankings if ranking.tiers]
    bounded = any(ranking.bounded for ranking in rankings)
    if len(found) < 2:
        return replace(found[0], bounded=bounded) if found else Ranking({}, bounded=bounded)
    worth: dict[int, float] = {}
    tiers: dict[int, int] = {}
    for ranking in found:
        for place, (entry, tier) in enumerate(ranking.tiers.items()):
            worth[entry] = worth.get(entry, 0.0) + 1 / (_FUSION + place)
            tiers[entry] = min(tier, tiers.get(entry, tier))
    order = sorted(worth, key=lambda entry: (-worth[entry], -entry))
    covered = max((ranking.covered for ranking in found if ranking.order[0] == order[0]), default=0.0)
    words = tuple(word for ranking in found for word in ranking.words)
    beginnings = tuple(word for ranking in found for word in ranking.beginnings)
    in_order = {entry: tiers[entry] for entry in order}
    return Ranking(in_order, covered or found[0].covered, bounded, words, beginnings)


def _rank_line(whole: Index, line: Line, heads_of: HeadsOf) -> Ranking:
    index, probes = within_reach(whole, line)
    found = most_words(index, line, probes, heads_of)
    some, bounded = found.scored, found.bounded
    if not any(probe.matches for probe in probes):
        some = _with_most_pieces(index, line, some)
    lists = [*_complete(index, line, probes, found), [entry for entry, _ in some]]
    tiers: dict[int, int] = {}
    for place, entries in zip((0, 1, _SOME, _SOME), lists, strict=True):
        for entry in entries:
            tiers.setdefault(entry, place)
    bounded = bounded or index.scope.oldest > 0
    if not tiers:
        return Ranking({}, bounded=bounded)
    known = [unit for unit in line.units if all(probes[place].matches for place in unit.terms)]
    known.sort(key=lambda unit: min(probes[place].matches for place in unit.terms))
    loose = [unit for unit in known if any(probes[place].loose for place in unit.terms)]
    return Ranking(
        tiers,
        _covered(index, line, probes, next(iter(tiers))),
        bounded,
        tuple(_held(unit, probes) for unit in known if unit not in loose),
        tuple(_held(unit, probes) for unit in loose),
    )


def _held(unit: Unit, probes: list[Probe]) -> str:
    """Return the expression for entries that hold all of a word; its last piece may be a beginning."""
    if any(probes[place].loose for place in unit.terms):
        return all_of(probes[place].expression for place in unit.terms)
    return any_of(map(quoted, unit.forms))


def _with_most_pieces(index: Index, line: Line, some: list[Scored]) -> list[Scored]:
    """Return what holds more than half of the identifiers' pieces: one alone, a `99`, says nothing."""
    ids = [entry for entry, _ in some]
    held = Counter(entry for hint in line.hints for entry in index.among(quoted(hint), ids))
    return [(entry, score) for entry, score in some if 2 * held[entry] > len(line.hints)]


def _complete(index: Index, line: Line, probes: list[Probe], found: MostWords) -> list[list[int]]:
    """Return what holds the line as a phrase, what holds all its words, and what only holds all pieces."""
    if not all(probe.matches and not probe.loose for probe in probes):
        return [[], [], []]
    scores = dict(found.scored)
    pieces = all_of(probe.expression for probe in probes)
    words = all_of(_held(unit, probes) for unit in line.units)
    scored = min(scores, default=index.scope.newest)
    anywhere = index.back_to(scored, pieces, DEPTH) if found.with_all is None else found.with_all
    if not anywhere:
        return [[], [], []]
    whole = anywhere if words == pieces else index.back_to(scored, words, DEPTH)
    may_be = set(anywhere) if found.in_a_row is None else found.in_a_row
    in_a_row = index.back_to(min(scored, *may_be), quoted(line.whole), DEPTH) if may_be else []
    # Another pass of BM25 would read all matches of the commonest word.
    return [
        sorted(ids, key=lambda entry: (-scores.get(entry, 0.0), -entry))[:DEPTH]
        for ids in (in_a_row, whole, anywhere)
    ]


def _covered(index: Index, line: Line, probes: list[Probe], entry: int) -> float:
    known = [unit for unit in line.units if all(probes[place].matches for place in unit.terms)]
    held = sum(bool(index.among(_held(unit, probes), [entry])) for unit in known)
    return held / len(line.units)
