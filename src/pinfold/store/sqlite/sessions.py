"""How a session begins: when a client says so, at a conversation's first write, or as a fork."""

from __future__ import annotations

import sqlite3

from pinfold.store.commands import StartSession
from pinfold.store.events import Body, Event, Kind
from pinfold.store.results import StartedSession
from pinfold.store.sqlite import marks
from pinfold.store.sqlite.lineage import conversation_of, current
from pinfold.store.sqlite.transaction import Draft, Transaction, receipt_of
from pinfold.store.values import Caller


def newest(db: sqlite3.Connection) -> int:
    """Return the number of the newest session, 0 where none has begun."""
    return int(db.execute("SELECT coalesce(max(number), 0) FROM session").fetchone()[0])


def there_are(db: sqlite3.Connection) -> str:
    """Return a sentence on which sessions there are, for who named another one."""
    last = newest(db)
    several = f"The sessions are 1 to {last}." if last > 1 else f"There is only session {last}."
    return several if last else "None has begun yet."


def start_session(tx: Transaction, command: StartSession) -> StartedSession:
    """Begin the caller's session or find it; see `Store.start_session`."""
    command = tx.clean(command)
    marks.register(tx, command)
    session = current(tx.db, command.caller)
    if session is not None:
        return StartedSession(session, None, repeated=True)
    event = start(tx, command.caller)
    return StartedSession(event.session, receipt_of(event), repeated=False)


def ensure(tx: Transaction, caller: Caller) -> int:
    """Return the caller's session, beginning one when this is its first write."""
    session = current(tx.db, caller)
    return start(tx, caller).session if session is None else session


def start(tx: Transaction, caller: Caller) -> Event:
    """Begin a new session that follows nothing."""
    number = tx.next_number("session")
    body = _body(tx, caller, number)
    return tx.append(Draft(Kind.SESSION_STARTED, body, number, caller.actor, parent=0))


def fork(tx: Transaction, caller: Caller, origin: sqlite3.Row, key: str | None, request: str | None) -> Event:
    """Begin a new session that follows a checkpoint (a row of `checkpoint`)."""
    number = tx.next_number("session")
    body = _body(tx, caller, number) | {"origin": origin["number"], "request": request}
    parent = int(origin["seq"])
    return tx.append(Draft(Kind.SESSION_STARTED, body, number, caller.actor, key, parent))


def _body(tx: Transaction, caller: Caller, number: int) -> Body:
    return {
        "number": number,
        "client": caller.client,
        "conversation": conversation_of(tx.db, caller),
        "origin": None,
        "head": caller.head,
        "branch": caller.branch,
        "request": None,
    }
