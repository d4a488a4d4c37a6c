"""The verb `pin_decision`: keep a text verbatim, supersede what it replaces, name what resembles it."""

from __future__ import annotations

import json

from pinfold.store.commands import SAID_NOW, PinDecision
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.events import Event, Kind
from pinfold.store.results import Likeness, Pin, PinnedDecision
from pinfold.store.sql import sessions
from pinfold.store.sql.answering import note_dead_end, note_pinned
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.forgetting.tombstones import refuse_forgotten
from pinfold.store.sql.lineage import current, live_pins, newest_of
from pinfold.store.sql.rows import pin_of
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of, request_digest
from pinfold.store.values import Actor, PinKind
from pinfold.store.words import folded_words, share_of

SIMILAR_SHARE = 0.5
DEAD_END_SHARE = 0.4
_LEAST_SHARE = dict.fromkeys(map(str, PinKind), SIMILAR_SHARE) | {str(PinKind.DEAD_END): DEAD_END_SHARE}
_MOST_NAMED = 3
COMPARED = 500
"""How many of the newest live pins a new one is compared with; the lock is held meanwhile."""


def pin_decision(tx: Transaction, command: PinDecision) -> PinnedDecision:
    """Append the pin, or find the one that an equal call appended; see `Store.pin_decision`."""
    command = tx.clean(command)
    request = _request(command)
    earlier = tx.earlier((Kind.DECISION_PINNED,), command.key, request)
    if earlier is None and command.said_at is not None and not command.supersedes:
        earlier = _said_already(tx, command, command.said_at)
    elif earlier is None and command.key is None:
        earlier = _equal_live_pin(tx, command)
    if earlier is not None:
        return _result(tx, earlier, repeated=True)
    pinned = _append(tx, command, request)
    made = _result(tx, pinned, repeated=False)
    note_pinned(tx, pinned, command.caller.actor)
    if made.dead_ends and command.kind is PinKind.DECISION:
        _record_attempt(tx, made, command.caller.actor)
    return made


def _record_attempt(tx: Transaction, made: PinnedDecision, actor: Actor) -> None:
    """Record that something already ruled out was tried again: whoever decided had not found the dead end."""
    hits = [alike.pin.pointer for alike in made.dead_ends]
    body = {"search": None, "query": made.pin.text, "hits": hits, "why": "decided against a pinned dead end"}
    missed = tx.append(Draft(Kind.SEARCH_MISSED, body, made.pin.session, actor))
    note_dead_end(tx, missed, hits[0], actor)


def _request(command: PinDecision) -> str:
    return request_digest(
        {
            "text": command.text,
            "why": command.why,
            "kind": command.kind,
            "supersedes": list(command.supersedes),
            "session_only": command.session_only,
            "files": list(command.files),
        }
    )


def _equal_live_pin(tx: Transaction, command: PinDecision) -> Event | None:
    session = current(tx.db, command.caller) if command.session_only else None
    rows = tx.db.execute(
        "SELECT seq, supersedes, files FROM pin WHERE superseded_by IS NULL AND text = ? AND why = ? AND kind = ?"
        " AND session_only = ? AND (session_only = 0 OR session = ?)",
        (command.text, command.why, command.kind, int(command.session_only), session),
    )
    return next((tx.event(row["seq"]) for row in rows if _adds_nothing(command, row)), None)


def _said_already(tx: Transaction, command: PinDecision, said_at: str) -> Event | None:
    """Return the pin that says the same for all sessions, live or superseded only after this was said.

    Clocks decide here and nowhere else: when something was said is all that tells a late reading from a new word.
    """
    row = tx.db.execute(
        "SELECT pin.seq FROM pin LEFT JOIN event ON event.seq = superseded_seq"
        " WHERE text = ? AND pin.kind = ? AND session_only = 0"
        " AND (superseded_by IS NULL OR ? AND event.at >= ?)"
        " ORDER BY superseded_by IS NOT NULL, number DESC LIMIT 1",
        (command.text, command.kind, said_at != SAID_NOW, said_at),
    ).fetchone()
    return None if row is None else tx.event(row["seq"])


def _adds_nothing(command: PinDecision, row: Row) -> bool:
    """Whether the pin already supersedes and concerns all that the command names; else a repeat would lose it."""
    supersedes, files = json.loads(row["supersedes"]), json.loads(row["files"])
    return set(command.supersedes) <= set(supersedes) and set(command.files) <= set(files)


def _append(tx: Transaction, command: PinDecision, request: str) -> Event:
    for number in command.supersedes:
        _check_supersedable(tx.db, number, session_only=command.session_only)
    session = sessions.ensure(tx, command.caller)
    number = tx.next_number("pin")
    body = {
        "number": number,
        "text": command.text,
        "why": command.why,
        "kind": command.kind,
        "session_only": command.session_only,
        "files": list(command.files),
        "specifics": list(command.specifics),
        "tokens": command.tokens,
        "supersedes": list(command.supersedes),
        "request": request,
    }
    if command.said_at and command.said_at != SAID_NOW:
        body["said_at"] = command.said_at
    actor = command.caller.actor
    pinned = tx.append(Draft(Kind.DECISION_PINNED, body, session, actor, command.key))
    for old in command.supersedes:
        tx.append(Draft(Kind.DECISION_SUPERSEDED, {"number": old, "by": number}, session, actor))
    return pinned


def _check_supersedable(db: Database, number: int, *, session_only: bool) -> None:
    row = db.execute("SELECT superseded_by, session_only FROM pin WHERE number = ?", (number,)).fetchone()
    if row is None:
        refuse_forgotten(db, "P", number)
        raise NotFoundError(
            f"supersedes P{number}", "there is no such pin", 'fetch_pointer("pins") lists them.'
        )
    if row["superseded_by"] is not None:
        now = newest_of(db, number)
        if now == number:
            raise ConflictError(
                f"P{number} is superseded by P{row['superseded_by']}, which was forgotten on request.",
                "Pin the text anew, without supersedes.",
            )
        raise ConflictError(
            f"P{number} is already superseded; the current pin is P{now}.", f'Use supersedes=["P{now}"].'
        )
    if session_only and not row["session_only"]:
        raise InvalidInputError(
            f"P{number} is for the whole project; a pin for one session cannot supersede it for all.",
            "Pin it without session_only, or without supersedes.",
        )


def _result(tx: Transaction, event: Event, *, repeated: bool) -> PinnedDecision:
    assert event.body is not None
    pin = pin_by_number(tx.db, event.body["number"])
    live = live_pins(tx.db, event.session, "number, kind, text, tokens")
    close = _close(pin, live[-COMPARED:])
    return PinnedDecision(
        pin=pin,
        receipt=receipt_of(_last_of(tx, event, pin)),
        repeated=repeated,
        similar=_named(tx.db, [found for found in close if found[2] != PinKind.DEAD_END]),
        dead_ends=_named(tx.db, [found for found in close if found[2] == PinKind.DEAD_END]),
        live_pins=len(live),
        live_tokens=sum(row["tokens"] for row in live),
    )


def _last_of(tx: Transaction, event: Event, pin: Pin) -> Event:
    """Return the write's last event: those that supersede stand right behind the pin's own."""
    return tx.event(event.seq + len(pin.supersedes)) if pin.supersedes else event


def pin_by_number(db: Database, number: int) -> Pin:
    """Return an existing pin."""
    return pin_of(db.execute("SELECT * FROM pin WHERE number = ?", (number,)).fetchone())


def _close(pin: Pin, live: list[Row]) -> list[tuple[float, int, str]]:
    """Return (share, number, kind) of the pins that resemble this one enough to be named, the nearest first."""
    own = folded_words(pin.text)
    shares = ((share_of(own, folded_words(text)), number, kind) for number, kind, text, _ in live)
    return sorted(
        (found for found in shares if found[0] >= _LEAST_SHARE[found[2]] and found[1] != pin.number),
        reverse=True,
    )


def _named(db: Database, close: list[tuple[float, int, str]]) -> tuple[Likeness, ...]:
    return tuple(Likeness(pin_by_number(db, number), share) for share, number, _ in close[:_MOST_NAMED])
