"""The log in slices; see `Store.logged`."""

from __future__ import annotations

from pinfold.store.events import GENESIS
from pinfold.store.logged import SLICE_BYTES, SLICE_EVENTS, LogEnd, LoggedEvent
from pinfold.store.sql.database import Database

_COLUMNS = (
    "seq, at, session, actor, kind, key, parent, version, CAST(body AS BLOB) AS body, body_digest, digest"
)
_ALL = f"SELECT {_COLUMNS} FROM event WHERE seq > ? ORDER BY seq"  # noqa: S608
_OF_SESSION = f"SELECT {_COLUMNS} FROM event WHERE seq > ? AND session = ? ORDER BY seq"  # noqa: S608


def log_end(db: Database, schema: int) -> LogEnd:
    """Return where the log ends; see `Store.log_end`."""
    row = db.execute("SELECT seq, digest FROM event ORDER BY seq DESC LIMIT 1").fetchone()
    seq, digest = row or (0, GENESIS)
    return LogEnd(seq, digest, schema)


def logged(db: Database, after: int, session: int | None) -> tuple[LoggedEvent, ...]:
    """Return the next events as they are stored; a body that is no text comes with its bad bytes replaced."""
    rows = db.stream(_ALL, (after,)) if session is None else db.stream(_OF_SESSION, (after, session))
    found: list[LoggedEvent] = []
    size = 0
    for row in rows:
        body: bytes | None = row["body"]
        text = None if body is None else body.decode("utf-8", "replace")
        found.append(LoggedEvent(**{**row, "body": text}))
        size += len(body or b"")
        if len(found) >= SLICE_EVENTS or size >= SLICE_BYTES:
            break
    return tuple(found)
