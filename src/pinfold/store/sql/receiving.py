"""The verb `receive`: events of another store's log, appended exactly as they are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from pinfold.store.errors import ConflictError, DamagedError, InvalidInputError, ReadOnlyError
from pinfold.store.events import Event, Kind, body_of
from pinfold.store.sql.database import Database
from pinfold.store.sql.forgetting.erasing import can_be_taken_out, take_out
from pinfold.store.sql.forgetting.owing import owe
from pinfold.store.sql.rebuilding import rebuild
from pinfold.store.sql.spilling import store_bytes
from pinfold.store.sql.transaction import Transaction
from pinfold.store.views import Change, changes

if TYPE_CHECKING:
    from pinfold.store.content import Content
    from pinfold.store.logged import LoggedEvent, LogPart

_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Received:
    """Where the log ends now, and the key that the project has from now on, where it took over another one."""

    seq: int
    digest: bytes
    key: bytes | None


def receive(tx: Transaction, part: LogPart) -> Received:
    """Append what is new of the part; see `Store.receive`."""
    key = part.secret if _newest(tx) == 0 else None
    if key is not None:
        _take_over(tx.db, key)
    rebuilds = _blank(tx, part)
    for logged in part.events:
        if logged.seq <= _newest(tx):
            _check_same(tx.db, logged)
        else:
            _append(tx, logged, part.content)
    if rebuilds:
        rebuild(tx.db)
    return Received(*tx.tip(), key)


def _newest(tx: Transaction) -> int:
    return tx.tip()[0]


def _take_over(db: Database, secret: bytes) -> None:
    if len(secret) != _KEY_BYTES:
        raise InvalidInputError("The project's key does not have 32 bytes.", "Send it as it is.")
    db.execute("UPDATE meta SET value = ? WHERE name = 'secret'", (secret,))


def _check_same(db: Database, logged: LoggedEvent) -> None:
    row = db.execute("SELECT digest FROM event WHERE seq = ?", (logged.seq,)).fetchone()
    if bytes(row["digest"]) != logged.digest:
        raise ConflictError(
            f"Another event {logged.seq} stands in this log; nothing was written.",
            "Only the log that this one is the beginning of can go on in it.",
        )


def _append(tx: Transaction, logged: LoggedEvent, content: Content | None) -> None:
    newest, digest = tx.tip()
    if logged.seq != newest + 1:
        raise ConflictError(
            f"This log ends with event {newest}, so that event {logged.seq} cannot follow; nothing was written.",
            "Send the events in between before.",
        )
    found = _changes(logged, digest)
    if logged.kind == Kind.ARTIFACT_SPILLED and found:
        _put_bytes(tx, found, content)
    tx.put(astuple(logged), found)


def _changes(logged: LoggedEvent, previous: bytes) -> list[Change]:
    """Return what an event changes; raises `DamagedError` where it is not what it was."""
    with suppress(TypeError, ValueError, LookupError, AttributeError):
        if logged.follows(previous):
            return changes(_event(logged))
    raise DamagedError(f"Event {logged.seq} of what was sent")


def _event(logged: LoggedEvent) -> Event:
    if logged.kind not in set(Kind):
        raise ReadOnlyError(f"a newer pinfold wrote event {logged.seq} of what was sent", "Update pinfold.")
    *_, body_digest, digest = astuple(logged)
    body = None if logged.body is None else body_of(logged.body, logged.version)
    return Event(
        logged.seq,
        logged.at,
        logged.session,
        logged.actor,
        Kind(logged.kind),
        logged.key,
        logged.parent,
        logged.version,
        body,
        body_digest,
        digest,
    )


def _put_bytes(tx: Transaction, found: list[Change], content: Content | None) -> None:
    """Store the bytes of an artifact, unless they are there."""
    digest = found[0].row["sha256"]  # type: ignore[union-attr]
    if content is not None and content.sha256 == digest:
        store_bytes(tx, content)
    elif tx.db.execute("SELECT 1 FROM content WHERE sha256 = ?", (digest,)).fetchone() is None:
        raise InvalidInputError(
            "The bytes of an artifact are missing in what was sent; nothing was written.",
            "Send them with its event.",
        )


def _blank(tx: Transaction, part: LogPart) -> bool:
    """Forget here as well what was forgotten there since; the files are to be scrubbed afterwards.

    Return whether the views are to be derived anew at the end, since bytes that go cannot be read.
    """
    if not part.blank:
        return False
    if not any(logged.kind == Kind.ENTRY_FORGOTTEN for logged in part.events):
        raise InvalidInputError("Nothing tells that these events were forgotten.", "Send what tells it, too.")
    gone = [event for event in map(tx.event, part.blank) if event.body is not None]
    rebuilds = not can_be_taken_out(tx, gone)
    if gone:
        owe(tx)
        take_out(tx, gone, rebuilds=rebuilds)
    return rebuilds
