"""The texts of entries as they were indexed: of a chunk, or what the event's change says."""

from __future__ import annotations

from contextlib import suppress

from pinfold.store.errors import DamagedError
from pinfold.store.events import Event
from pinfold.store.sql.chunks import chunk_of
from pinfold.store.sql.database import Database
from pinfold.store.sql.readable import readable
from pinfold.store.sql.rows import event_at, event_of
from pinfold.store.sql.search.entries import EntryRow
from pinfold.store.views import PutEntry, changes

_NEAR = 4
_AHEAD = 32
"""How many events are read at once when they are asked for one before the other: each statement may be a round trip."""


class Texts:
    """Gives the text of one entry after the other; for one snapshot."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._held: dict[int, Event] = {}
        self._last = 0

    def __call__(self, row: EntryRow) -> str:
        """Return an entry's text; raises `DamagedError`."""
        if row.chunk is not None:
            chunk = self._db.execute("SELECT * FROM chunk WHERE id = ?", (row.chunk,)).fetchone()
            return chunk_of(chunk).unpack(row.pointer).decode("utf-8", "replace")
        return _said(self._event(row.seq), row.pointer)

    def _event(self, seq: int) -> Event:
        if seq not in self._held and 0 < self._last - seq <= _NEAR:
            self._read_ahead(seq)
        self._last = seq
        return self._held[seq] if seq in self._held else event_at(self._db, seq)

    def _read_ahead(self, seq: int) -> None:
        rows = self._db.execute("SELECT * FROM event WHERE seq BETWEEN ? AND ?", (seq - _AHEAD, seq))
        self._held = {}
        for row in rows.fetchall():
            with suppress(DamagedError):  # who asks for that one is told
                self._held[row["seq"]] = event_of(row)


@readable("event")
def _said(event: Event, pointer: str) -> str:
    entries = (change for change in changes(event) if isinstance(change, PutEntry))
    return next((entry.text for entry in entries if entry.pointer == pointer), "")
