"""How a session begins: at a conversation's first write, or as a fork."""

from __future__ import annotations

import sqlite3

from pinfold.store.events import Event, Kind
from pinfold.store.sqlite.lineage import current
from pinfold.store.sqlite.transaction import Draft, Transaction
from pinfold.store.values import Caller


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
