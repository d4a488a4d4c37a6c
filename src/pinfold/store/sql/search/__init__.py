"""Search: a query in, a page of hits out.

A cursor names the newest entry that counts and the entries already shown, so that paging shows each thing
once while others write. Source: design 2, search_history; P7, P32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial

from pinfold.store.commands import SearchHistory
from pinfold.store.query import Cursor, Query, digest_of_query, parse, read_cursor, write_cursor
from pinfold.store.search_results import COMPLETE_TIERS
from pinfold.store.sql.database import Database
from pinfold.store.sql.search.entries import EntryRow, TextOf, entries, first_lines, newest_id
from pinfold.store.sql.search.index import Index, Scope
from pinfold.store.sql.search.learned import learned, with_learned, with_reasons
from pinfold.store.sql.search.middles import Middles, look_between_ends
from pinfold.store.sql.search.page import FoundHit, Page
from pinfold.store.sql.search.rank import Ranking, rank_matches, tier_names
from pinfold.store.sql.search.scan import scan_newest

__all__ = ["EntryRow", "Found", "FoundHit", "TextOf", "search"]


@dataclass(frozen=True, slots=True)
class Found:
    """One page of hits, best first.

    `tier` (that of the first hit), `covered`, `bounded` and `unquoted` are those of `search_results.SearchPage`. Hits
    are what is left once texts that read the same, pieces of one artifact and superseded pins are put together;
    `repeats` read the same as hits of earlier pages. `through` and `partly` are artifacts of which the index has the
    ends only, looked through for this, and not.
    """

    hits: tuple[FoundHit, ...]
    repeats: tuple[FoundHit, ...]
    partly: tuple[str, ...]
    through: tuple[str, ...]
    tier: str
    covered: float
    bounded: bool
    unquoted: bool
    next_cursor: str | None


def search(db: Database, asked: SearchHistory, text_of: TextOf) -> Found:
    """Return one page of hits.

    Raises `InvalidInputError` for a query without letter, digit or pictograph, and for a cursor of another
    query.
    """
    query = parse(asked.query)
    digest = digest_of_query(asked.query, asked.kinds, asked.session, asked.since, asked.path)
    cursor = read_cursor(asked.cursor, digest) if asked.cursor else Cursor(newest_id(db), frozenset())
    index = db.index(Scope(cursor.newest, asked.kinds, asked.session, asked.since, asked.path))
    ranking = _ranked(index, query, text_of)
    middles = Middles() if asked.cursor or ranking.is_complete else look_between_ends(index, query)
    ranking = middles.before(ranking)
    # A page that follows those of middles alone has nothing to show.
    unquoted = query.has_phrases and not ranking.tiers and not (asked.cursor and not cursor.shown)
    if unquoted:
        query = query.unquoted()
        by_words = _ranked(index, query, text_of)
        ranking = replace(by_words, bounded=by_words.bounded or ranking.bounded)
    lessons = learned(index, asked.query)
    if lessons:
        ranking = with_learned(ranking, lessons, asked.limit)
    page = Page(db, query, text_of)
    page.skip(
        entries(
            db,
            [*filter(cursor.shown.__contains__, ranking.tiers), *sorted(cursor.shown - ranking.tiers.keys())],
        )
    )
    fresh = entries(db, (entry for entry in ranking.tiers if entry not in cursor.shown), middles.rows)
    more = page.fill(page.literal_first(fresh, ranking.tiers), asked.limit)
    tiers = tier_names(index, ranking, [hit.matched for hit in page.hits])
    hits = with_reasons(tuple(replace(hit, tier=tiers[hit.matched]) for hit in page.hits), lessons)
    tier = hits[0].tier if hits else "none"
    shown = frozenset(entry for entry in page.consumed if entry > 0)
    return Found(
        hits=hits,
        repeats=tuple(page.repeats),
        partly=middles.left,
        through=() if tier in COMPLETE_TIERS else middles.through,
        tier=tier,
        covered=ranking.covered,
        bounded=ranking.bounded,
        unquoted=unquoted,
        next_cursor=write_cursor(Cursor(cursor.newest, shown), digest) if more else None,
    )


def _ranked(index: Index, query: Query, text_of: TextOf) -> Ranking:
    ranking = rank_matches(index, query, partial(first_lines, index.db, cache(text_of)))
    if not ranking.only_parts:
        return ranking
    scanned = scan_newest(index, query, text_of)
    if not scanned.tiers and ranking.tiers:
        return ranking
    return replace(scanned, bounded=scanned.bounded or ranking.bounded)
