"""Which session a caller's conversation continues, what it inherits, and how a new one begins."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from pinfold.store.events import Event, Kind
from pinfold.store.sqlite.transaction import Draft, Transaction
from pinfold.store.values import Caller


def current(db: sqlite3.Connection, caller: Caller) -> int | None:
    """Return the session that the caller's conversation continues, None when it has none yet."""
    row = db.execute(
        "SELECT session FROM conversation WHERE client = ? AND conversation = ?",
        (caller.client, caller.conversation),
    ).fetchone()
    return None if row is None else int(row[0])


def ensure(tx: Transaction, caller: Caller) -> int:
    """Return the caller's session, beginning one when this is its first write."""
    session = current(tx.db, caller)
    return start(tx, caller).session if session is None else session


def start(
    tx: Transaction,
    caller: Caller,
    origin: sqlite3.Row | None = None,
    *,
    key: str | None = None,
    request: str | None = None,
) -> Event:
    """Begin a new session; with `origin` (a row of `checkpoint`) as a fork that follows that checkpoint."""
    number = tx.next_number("session")
    body = {
        "number": number,
        "client": caller.client,
        "conversation": caller.conversation,
        "origin": None if origin is None else origin["number"],
        "head": caller.head,
        "branch": caller.branch,
        "request": request,
    }
    parent = 0 if origin is None else int(origin["seq"])
    return tx.append(Draft(Kind.SESSION_STARTED, body, number, caller.actor, key, parent))


@dataclass(frozen=True, slots=True)
class Heritage:
    """A session that counts for another one, up to a seq: itself without limit, then the sessions it was forked from."""

    session: int
    until: int


def lineage(db: sqlite3.Connection, session: int | None) -> tuple[Heritage, ...]:
    """Return the session and those it was forked from, nearest first, each up to its fork."""
    found: list[Heritage] = []
    until = 2**62
    while session is not None and len(found) < 100:
        found.append(Heritage(session, until))
        row = db.execute(
            "SELECT checkpoint.session, checkpoint.seq FROM session"
            " JOIN checkpoint ON checkpoint.number = session.origin WHERE session.number = ?",
            (session,),
        ).fetchone()
        session, until = (None, until) if row is None else (int(row[0]), min(until, int(row[1])))
    return tuple(found)
