"""Rows of `entry`: the searchable pieces, whose texts are kept elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from pinfold.store.sql.database import Database


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One searchable piece, as in the table `entry` of `schema.sql`."""

    id: int
    seq: int
    pointer: str
    chunk: int | None
    kind: str
    session: int
    at: str
    ref: str | None


TextOf = Callable[[EntryRow], str]
"""Gives an entry's whole text, the same as was indexed."""

HEAD_CHARS = 200
READ_FOR_HEADS_CHARS = 1_000_000
_ROWS_AT_ONCE = 32
COLUMNS = "id, seq, pointer, chunk, kind, session, at, ref"


def newest_id(db: Database) -> int:
    """Return the id of the newest entry, 0 when there is none."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM entry").fetchone()[0])


def entries(
    db: Database, ids: Iterable[int], beside: Mapping[int, EntryRow] = MappingProxyType({})
) -> Iterator[EntryRow]:
    """Yield the rows of these ids in this order, read as they are needed; those that are gone are left out.

    `beside` are rows that are in no table.
    """
    wanted = iter(ids)
    sql = f"SELECT {COLUMNS} FROM entry WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
    while some := list(islice(wanted, _ROWS_AT_ONCE)):
        found = {**beside, **{row[0]: EntryRow(*row) for row in db.execute(sql, (json.dumps(some),))}}
        yield from (found[entry] for entry in some if entry in found)


def first_entry(db: Database, pointer: str) -> EntryRow | None:
    """Return the first entry of what a pointer names."""
    sql = f"SELECT {COLUMNS} FROM entry WHERE pointer = ? ORDER BY id LIMIT 1"  # noqa: S608
    row = db.execute(sql, (pointer,)).fetchone()
    return EntryRow(*row) if row else None


def first_lines(db: Database, text_of: TextOf, ids: Iterable[int]) -> dict[int, str]:
    """Return the first lines, cut at `HEAD_CHARS`, of those entries that are no piece of an artifact.

    Of the first ones only, where their texts are long: a text is read as a whole.
    """
    lines: dict[int, str] = {}
    chars = 0
    for row in entries(db, ids):
        if row.chunk is None and chars <= READ_FOR_HEADS_CHARS:
            text = text_of(row)
            chars += len(text)
            lines[row.id] = text[: 4 * HEAD_CHARS].lstrip()[:HEAD_CHARS].partition("\n")[0]
    return lines
