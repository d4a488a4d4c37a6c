"""The verb `search_history`: look, then note what was asked; a search that missed becomes an event.

The look is a read. All that is to be kept follows in one write: the number without waiting for the disk, a
miss as durably as any event. Where nothing can be written, the answer comes without a number, unless it was
to say that an earlier search missed. Source: docs/decisions/0007; design 2, search_history.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from dataclasses import replace
from functools import partial

from pinfold.store.commands import SearchHistory
from pinfold.store.errors import (
    BusyError,
    InvalidInputError,
    NoSpaceError,
    PinfoldError,
    ReadOnlyError,
    UnknownOutcomeError,
)
from pinfold.store.events import Body, Event, Kind
from pinfold.store.search_results import Hit, SearchPage
from pinfold.store.sqlite import answering, sessions
from pinfold.store.sqlite.chunks import chunk_of
from pinfold.store.sqlite.lineage import current
from pinfold.store.sqlite.readable import readable
from pinfold.store.sqlite.reader import Reader
from pinfold.store.sqlite.reading import search_by_number
from pinfold.store.sqlite.rows import event_at
from pinfold.store.sqlite.search import EntryRow, FoundHit, search
from pinfold.store.sqlite.transaction import Draft, Transaction
from pinfold.store.sqlite.writer import Writer
from pinfold.store.values import Caller, Pointer
from pinfold.store.views import PutEntry, changes

KEPT_SEARCHES = 1_000
KEPT_QUERY_CHARS = 2_000
_NOT_NOTED = (BusyError, NoSpaceError, ReadOnlyError, UnknownOutcomeError)


async def search_history(reader: Reader, writer: Writer, query: SearchHistory) -> SearchPage:
    """Return one page of hits under a number of its own; see `Store.search_history`."""
    page = await reader.read(partial(_look, query=query))  # first: a refused query must leave nothing
    if not query.recorded:
        return page
    if query.missed is not None:
        number = await writer.write(partial(_record, query=query, page=page))
        return replace(page, pointer=f"S{number}", missed=str(query.missed))
    leaves_event = not (page.hits or query.cursor)
    write = writer.write if leaves_event else writer.note
    try:
        number = await write(partial(_record, query=query, page=page))
    except _NOT_NOTED:
        return page
    return replace(page, pointer=f"S{number}")


async def note_opened(reader: Reader, writer: Writer, caller: Caller, pointer: Pointer) -> None:
    """Record what the caller answers by opening an entry, if anything; see `Store.note_opened`."""
    with suppress(PinfoldError):
        if await reader.read(lambda db: answering.answered_by(db, current(db, caller), str(pointer))):
            await writer.note(partial(answering.note_opened, caller=caller, pointer=str(pointer)))


def _look(db: sqlite3.Connection, query: SearchHistory) -> SearchPage:
    if query.session is not None:
        _check_session(db, query.session)
    found = search(db, query, partial(text_of, db))
    hits = tuple(_hit(db, hit) for hit in found.hits)
    repeats = tuple(_pointer(db, hit) for hit in found.repeats)
    return SearchPage(
        None,
        found.tier,
        hits,
        found.covered,
        found.bounded,
        found.next_cursor,
        repeats=repeats,
        partly=found.partly,
        through=found.through,
        unquoted=found.unquoted,
    )


def _check_session(db: sqlite3.Connection, session: int) -> None:
    if session > sessions.newest(db):
        there_are = sessions.there_are(db)
        raise InvalidInputError(
            f"There is no session {session}.", f"{there_are} Leave `session` out to search all."
        )


def text_of(db: sqlite3.Connection, row: EntryRow) -> str:
    """Return an entry's text as it was indexed: a chunk's, or what the event's change says."""
    if row.chunk is not None:
        chunk = db.execute("SELECT * FROM chunk WHERE id = ?", (row.chunk,)).fetchone()
        return chunk_of(chunk).unpack(row.pointer).decode("utf-8", "replace")
    return _said(event_at(db, row.seq), row.pointer)


@readable("event")
def _said(event: Event, pointer: str) -> str:
    entries = (change for change in changes(event) if isinstance(change, PutEntry))
    return next((entry.text for entry in entries if entry.pointer == pointer), "")


def _hit(db: sqlite3.Connection, hit: FoundHit) -> Hit:
    entry = hit.entry
    return Hit(
        pointer=_pointer(db, hit),
        kind=entry.kind,
        at=entry.at,
        session=entry.session,
        snippet=hit.snippet,
        tier=hit.tier,
        title=_label(db, entry) if entry.pointer.startswith("A") else "",
        ref=entry.ref,
        note=hit.note,
        like=tuple(_pointer(db, twin) for twin in hit.like),
    )


def _pointer(db: sqlite3.Connection, hit: FoundHit) -> str:
    """Return where a hit is: of an artifact, the line."""
    entry = hit.entry
    if entry.chunk is None or not entry.pointer.startswith("A"):
        return entry.pointer
    return f"{entry.pointer}#L{_lines_before(db, entry.chunk) + hit.line}"


def _label(db: sqlite3.Connection, entry: EntryRow) -> str:
    row = db.execute("SELECT label, path FROM artifact WHERE seq = ?", (entry.seq,)).fetchone()
    return str(row["label"] or row["path"] or "") if row else ""


def _lines_before(db: sqlite3.Connection, chunk: int) -> int:
    return int(db.execute("SELECT lines_before FROM chunk WHERE id = ?", (chunk,)).fetchone()[0])


def _pointers(page: SearchPage) -> str:
    """Return all that a page names, hits before what reads the same."""
    alike = (pointer for hit in page.hits for pointer in hit.like)
    return json.dumps([*(hit.pointer for hit in page.hits), *alike, *page.repeats])


def _kept(query: SearchHistory) -> str:
    """Return what is recorded of a query: a pasted log must not grow the store by its size each time."""
    asked = query.query
    return asked if len(asked) <= KEPT_QUERY_CHARS else asked[:KEPT_QUERY_CHARS] + "…"


def _record(tx: Transaction, query: SearchHistory, page: SearchPage) -> int:
    """Number the search; record what it says of an earlier one, and itself as a miss if it found nothing."""
    query = tx.clean(query)  # before it is cut: no rule knows half a secret
    if query.missed is not None:
        _flag_miss(tx, query, query.missed)
        answering.withdraw(tx, query.caller, query.missed.number)
    number = _note(tx, query, page)
    if query.missed is not None:
        answering.note_shown(tx, query.caller, query.missed.number, page, number)
    if not (page.hits or query.cursor):
        body = {"search": number, "query": _kept(query), "hits": [], "why": "nothing found"}
        _append_miss(tx, query, body)
    return number


def _note(tx: Transaction, query: SearchHistory, page: SearchPage) -> int:
    number = tx.next_number("search")
    session = current(tx.db, query.caller) or 0
    tx.db.execute(
        "INSERT INTO search (number, at, session, query, hits) VALUES (?, ?, ?, ?, ?)",
        (number, tx.at, session, _kept(query), _pointers(page)),
    )
    tx.db.execute("DELETE FROM search WHERE number <= ?", (number - KEPT_SEARCHES,))
    return number


def _flag_miss(tx: Transaction, query: SearchHistory, missed: Pointer) -> None:
    """Record that an earlier search did not surface what was needed; once, however often it is said.

    Raises `NotFoundError` for a search that is not known (any more).
    """
    record = search_by_number(tx.db, missed.number)
    if record.missed is not None:
        return
    body = {
        "search": record.number,
        "query": record.query,
        "hits": list(record.hits),
        "why": "said to have missed",
    }
    _append_miss(tx, query, body)


def _append_miss(tx: Transaction, query: SearchHistory, body: Body) -> None:
    session = sessions.ensure(tx, query.caller)
    tx.append(Draft(Kind.SEARCH_MISSED, body, session, query.caller.actor))
