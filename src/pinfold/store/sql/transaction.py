"""One write transaction: appends events to the log and applies what they change, all or nothing.

A verb is a plain function of a `Transaction`. It looks up the idempotency key, checks its invariants, appends, and
reads the result back; it never begins or ends the transaction itself. Source: design 1, How data flows; P3, P4, P6.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from pinfold.store.cleaning import cleaned
from pinfold.store.errors import ConflictError
from pinfold.store.events import (
    BODY_VERSION,
    GENESIS,
    Body,
    Event,
    Kind,
    canonical,
    digest_of,
    link,
)
from pinfold.store.redaction import Redactor
from pinfold.store.sql.apply import apply
from pinfold.store.sql.database import Database, insertion
from pinfold.store.sql.rows import event_at, event_of
from pinfold.store.values import Actor, Receipt, stamp
from pinfold.store.views import Change, changes

T = TypeVar("T")

_COLUMNS = tuple("seq at session actor kind key parent version body body_digest digest".split())
_LETTERS = {"pin": "P", "artifact": "A", "checkpoint": "C", "fold": "F", "search": "S"}


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has its place in the log. `parent` None: the newest event of its session."""

    kind: Kind
    body: Body
    session: int
    actor: Actor
    key: str | None = None
    parent: int | None = None


def receipt_of(event: Event) -> Receipt:
    """Return the receipt that an acknowledged write gets."""
    return Receipt.of(event.seq, event.digest)


class Transaction:
    """What a verb may do while it has the log to itself. `at` is the one reading of the clock."""

    def __init__(self, db: Database, redactor: Redactor) -> None:
        self.db = db
        self.at = stamp(datetime.now(UTC))
        self._redactor = redactor
        self._last: tuple[int, bytes] | None = None
        self._newest: dict[int, int] = {}

    def append(self, draft: Draft) -> Event:
        """Append one event behind the newest and apply its changes to the views."""
        drafted = canonical(draft.body)
        text = self._redactor.text(drafted).text
        previous, before = self.tip()
        seq = previous + 1
        parent = self._newest_of(draft.session) if draft.parent is None else draft.parent
        key = self.clean(draft.key)
        envelope = (seq, self.at, draft.session, draft.actor, draft.kind, key, parent, BODY_VERSION)
        body_digest = digest_of(text)
        digest = link(before, envelope, body_digest)
        # A message is flat, so unless redacted it is what the log gives back; nested bodies differ in their order.
        is_same = draft.kind is Kind.MESSAGE_APPENDED and text == drafted
        event = Event(*envelope, draft.body if is_same else json.loads(text), body_digest, digest)
        self.put((*envelope, text, body_digest, digest), changes(event))
        return event

    def put(self, row: tuple[Any, ...], found: list[Change]) -> None:
        """Put an event's row, in the order of its columns, behind the newest, and apply what it changes."""
        self.db.execute(insertion("event", _COLUMNS), row)
        seq, _, session, *_, digest = row
        self._last = seq, digest
        self._newest[session] = seq
        apply(self.db, found)

    def clean(self, asked: T) -> T:
        """Return a text or a command without known secret shapes; a verb begins with it. Source: P24."""
        return cleaned(self._redactor, asked)

    def tip(self) -> tuple[int, bytes]:
        """Return the newest event's seq and digest; of an empty log 0 and that of its beginning."""
        if self._last is None:
            row = self.db.execute("SELECT seq, digest FROM event ORDER BY seq DESC LIMIT 1").fetchone()
            self._last = (row[0], row[1]) if row else (0, GENESIS)
        return self._last

    def _newest_of(self, session: int) -> int:
        if session not in self._newest:
            found = self.db.execute("SELECT max(seq) FROM event WHERE session = ?", (session,)).fetchone()[0]
            self._newest[session] = int(found or 0)
        return self._newest[session]

    def next_number(self, table: str) -> int:
        """Return the next pointer number of a view; numbers are never reused, those of the forgotten neither."""
        query = (
            f"SELECT coalesce(max(number), 0) + 1 FROM (SELECT max(number) AS number FROM {table}"  # noqa: S608
            " UNION ALL SELECT max(number) FROM forgotten WHERE letter = ?) AS used"
        )
        return int(self.db.execute(query, (_LETTERS.get(table, ""),)).fetchone()[0])

    def earlier(self, kinds: tuple[Kind, ...], key: str | None, request: str) -> Event | None:
        """Return the event that an earlier call with this key appended, if there was one.

        Raises `ConflictError` when that call had other arguments. Source: P4.
        """
        if key is None:
            return None
        for kind in kinds:
            row = self.db.execute("SELECT * FROM event WHERE kind = ? AND key = ?", (kind, key)).fetchone()
            if row is None:
                continue
            event = event_of(row)
            if event.body is None:
                raise ConflictError(
                    f"What this key wrote was forgotten on request (event {event.seq}); nothing was written.",
                    "Use another key to write it anew.",
                )
            if event.body.get("request") != request:
                raise ConflictError(
                    f"This key was used with other arguments; the first write stands (event {event.seq}).",
                    "Use another key for another write.",
                )
            return event
        return None

    def event(self, seq: int) -> Event:
        """Return one event of the log."""
        return event_at(self.db, seq)


def request_digest(fields: dict[str, object]) -> str:
    """Return what tells two calls with one key apart: 16 hex digits over the canonical arguments."""
    return digest_of(canonical(fields)).hex()[:16]
