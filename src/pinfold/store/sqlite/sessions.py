"""How a session begins: when a client says so, at a conversation's first write, or as a fork."""

from __future__ import annotations

import sqlite3

from pinfold.store.commands import StartSession
from pinfold.store.events import Body, Event, Kind
from pinfold.store.results import StartedSession
from pinfold.store.sqlite import marks
from pinfold.store.sqlite.lineage import current
from pinfold.store.sqlite.transaction import Draft, Transaction, receipt_of
from pinfold.store.values import Caller


def start_session(tx: Transaction, command: StartSession) -> StartedSession:
    """Begin or take up the caller's session; see `Store.start_session`."""
    caller = command.caller
    marks.register(tx, command)
    others = tuple(
        name
        for name in marks.conversations_of(tx, command)
        if name != caller.conversation and current(tx.db, _named(caller, name)) is not None
    )
    session = _own_session(tx.db, caller)
    if session is None:
        event = start(tx, caller, also=others)
        return StartedSession(event.session, receipt_of(event), repeated=False)
    moved = tuple(name for name in others if current(tx.db, _named(caller, name)) != session)
    if current(tx.db, caller) == session and not moved:
        return StartedSession(session, None, repeated=True)
    event = _resume(tx, caller, session, moved)
    return StartedSession(session, receipt_of(event), repeated=False)


def _named(caller: Caller, conversation: str) -> Caller:
    return Caller(caller.client, conversation)


def _own_session(db: sqlite3.Connection, caller: Caller) -> int | None:
    """Return the newest session that was begun under this conversation's own name."""
    row = db.execute(
        "SELECT max(number) FROM session WHERE client = ? AND conversation = ?",
        (caller.client, caller.conversation),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def _resume(tx: Transaction, caller: Caller, session: int, also: tuple[str, ...]) -> Event:
    body = _body(caller, session) | {"resumed": True, "also": list(also)}
    return tx.append(Draft(Kind.SESSION_STARTED, body, session, caller.actor))


def ensure(tx: Transaction, caller: Caller) -> int:
    """Return the caller's session, beginning one when this is its first write."""
    session = current(tx.db, caller)
    return start(tx, caller).session if session is None else session


def start(tx: Transaction, caller: Caller, also: tuple[str, ...] = ()) -> Event:
    """Begin a new session; the conversations `also` go on in it from now on."""
    number = tx.next_number("session")
    body = _body(caller, number) | ({"also": list(also)} if also else {})
    return tx.append(Draft(Kind.SESSION_STARTED, body, number, caller.actor, parent=0))


def fork(tx: Transaction, caller: Caller, origin: sqlite3.Row, key: str | None, request: str | None) -> Event:
    """Begin a new session that follows a checkpoint (a row of `checkpoint`)."""
    number = tx.next_number("session")
    body = _body(caller, number) | {"origin": origin["number"], "request": request}
    parent = int(origin["seq"])
    return tx.append(Draft(Kind.SESSION_STARTED, body, number, caller.actor, key, parent))


def _body(caller: Caller, number: int) -> Body:
    return {
        "number": number,
        "client": caller.client,
        "conversation": caller.conversation,
        "origin": None,
        "head": caller.head,
        "branch": caller.branch,
        "request": None,
    }
