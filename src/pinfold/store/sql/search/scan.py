"""The last tier: what stands inside of words, looked for in the texts of the newest entries only."""

from __future__ import annotations

from collections.abc import Iterator

from pinfold.store.errors import DamagedError
from pinfold.store.query import Query
from pinfold.store.sql.search.entries import COLUMNS, EntryRow, TextOf
from pinfold.store.sql.search.index import DEPTH, Index
from pinfold.store.sql.search.rank import TIERS, Ranking
from pinfold.store.words import fold

SCANNED_ENTRIES = 1_000
SCANNED_CHARS = 2_000_000
LOOKED_AT = 50_000


def scan_newest(index: Index, query: Query, text_of: TextOf) -> Ranking:
    """Return entries that hold at least half of a line's words as plain substrings, most first, then newest
    first.

    Lines with a quoted phrase are left out: a phrase that no entry holds has no other meaning. Reads at most
    `SCANNED_ENTRIES` entries or `SCANNED_CHARS` characters among the `LOOKED_AT` newest ones; `bounded` says that
    older ones were left.
    """
    lines = [_needles(line.pieces) for line in query.lines if not line.phrases]
    if not lines:
        return Ranking({})
    shares: dict[int, float] = {}
    chars = 0
    bounded = index.scope.newest > LOOKED_AT
    for seen, row in enumerate(_newest(index)):
        if seen == SCANNED_ENTRIES or chars > SCANNED_CHARS:
            bounded = True
            break
        text = fold(_whole(row, text_of))
        chars += len(text)
        share = max(sum(needle in text for needle in needles) / len(needles) for needles in lines)
        if share >= 1 / 2:
            shares[row.id] = share
    order = sorted(shares, key=lambda entry: (-shares[entry], -entry))[:DEPTH]
    tier = TIERS.index("substring")
    return Ranking(dict.fromkeys(order, tier), max(shares.values(), default=0.0), bounded)


def _whole(row: EntryRow, text_of: TextOf) -> str:
    """Return an entry's text, none of a damaged one: what is around it can still be found."""
    try:
        return text_of(row)
    except DamagedError:
        return ""


def _needles(pieces: tuple[str, ...]) -> list[str]:
    return [piece for piece in pieces if len(piece) > 1] or list(pieces)


def _newest(index: Index) -> Iterator[EntryRow]:
    """Yield the entries of the scope from the newest back, not beyond `LOOKED_AT` ids."""
    sql, values = index.scope.on_entry()
    newest = index.scope.newest
    rows = index.db.stream(
        f"SELECT {COLUMNS} FROM entry WHERE id BETWEEN ? AND ?{sql} ORDER BY id DESC",  # noqa: S608
        (newest - LOOKED_AT, newest, *values),
    )
    for row in rows:
        yield EntryRow(*row)
