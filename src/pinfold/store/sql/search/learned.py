"""What earlier misses taught: entries that answered a search for mostly the same words.

They stand behind all that holds all words, and before the rest; on a first page of two or more hits at least in its
last place, so that the same miss does not happen twice. Source: design 2, search_history.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from pinfold.store.aliases import ALIKE, phrasings
from pinfold.store.query import first_part
from pinfold.store.search_results import LEARNED_TIER
from pinfold.store.snippet import Sought, snippet
from pinfold.store.sql.search.index import Index
from pinfold.store.sql.search.page import FoundHit
from pinfold.store.sql.search.rank import COMPLETE, TIERS, Ranking
from pinfold.store.words import share_of

MOST = 2
"""How many entries one search takes from earlier misses: a few good ones, since each takes another's place."""

_NEWEST = 200
_NOTE_CHARS = 60
_CANDIDATES = 20
_WORDS = 512
_ENTRY = (
    "SELECT entry.id, miss.query FROM answer JOIN miss ON miss.seq = answer.miss"
    " JOIN entry ON entry.pointer = answer.pointer WHERE answer.miss = ? AND entry.id <= ?"
)
_HELD = 1 / 2
_LEARNED = TIERS.index(LEARNED_TIER)


@dataclass(frozen=True, slots=True)
class Lesson:
    """An entry that answered a miss, and what had been asked."""

    entry: int
    asked: str


def learned(index: Index, query: str) -> list[Lesson]:
    """Return the entries in scope that answered the misses most like a query, best first, then newest.

    Phrasings with a quoted phrase are left out, since what they find must hold it. Of each word only the newest
    `_NEWEST` misses count; of a long query only what `parse` reads of it, and its `_WORDS` longest words.
    """
    asked = phrasings("\n".join(line for line in first_part(query).splitlines() if not _is_quoted(line)))
    shares = {}
    for miss in _candidates(index, asked):
        row = index.db.execute("SELECT query FROM miss WHERE seq = ?", (miss,)).fetchone()
        share = max(share_of(words, other) for words in asked for other in phrasings(row[0]))
        if share >= ALIKE:
            shares[miss] = share
    found: dict[int, Lesson] = {}
    for miss in sorted(shares, key=lambda miss: (-shares[miss], -miss)):
        for lesson in _entries(index, miss):
            found.setdefault(lesson.entry, lesson)
    return list(found.values())[:MOST]


def with_learned(ranking: Ranking, lessons: list[Lesson], limit: int) -> Ranking:
    """Return a ranking with these entries behind those with all words, or in the last place of a full page."""
    order = list(ranking.tiers)
    full = [entry for entry in order if ranking.tiers[entry] in COMPLETE]
    first = max(len(full), int(ranking.covered >= _HELD))
    new = [lesson.entry for lesson in lessons if lesson.entry not in full[:limit]]
    place = min(first, max(1, limit - len(new)))
    rest = [entry for entry in order if entry not in new]
    tiers = ranking.tiers | dict.fromkeys(new, _LEARNED)
    return replace(ranking, tiers={entry: tiers[entry] for entry in [*rest[:place], *new, *rest[place:]]})


def with_reasons(hits: tuple[FoundHit, ...], lessons: list[Lesson]) -> tuple[FoundHit, ...]:
    """Return hits that say, where they were found by a lesson, what had been asked."""
    asked = {lesson.entry: lesson.asked for lesson in lessons}
    return tuple(_reasoned(hit, asked[hit.matched]) if hit.tier == LEARNED_TIER else hit for hit in hits)


def _reasoned(hit: FoundHit, asked: str) -> FoundHit:
    reason = f"answered an earlier miss: {snippet(asked, Sought(()), _NOTE_CHARS).text}"
    return replace(hit, note=f"{reason}; {hit.note}" if hit.note else reason)


def _is_quoted(line: str) -> bool:
    return '"' in line or "“" in line


def _candidates(index: Index, asked: tuple[frozenset[str], ...]) -> list[int]:
    """Return the misses that share the most words with what is asked."""
    query = "SELECT miss FROM alias WHERE word = ? ORDER BY miss DESC LIMIT ?"
    shared: Counter[int] = Counter()
    for word in sorted(frozenset[str]().union(*asked), key=lambda word: (-len(word), word))[:_WORDS]:
        shared.update(row[0] for row in index.db.execute(query, (word, _NEWEST)))
    return [miss for miss, _ in shared.most_common(_CANDIDATES)]


def _entries(index: Index, miss: int) -> list[Lesson]:
    """Return the first entry in scope of what answered a miss."""
    filters, values = index.scope.on_entry()
    sql = f"{_ENTRY}{filters} ORDER BY entry.id LIMIT 1"
    row = index.db.execute(sql, (miss, index.scope.newest, *values)).fetchone()
    return [] if row is None else [Lesson(row[0], row[1])]
