"""Which session a conversation continues, what it inherits, from which checkpoint it goes on. Reads only."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pinfold.store.results import Checkpoint
from pinfold.store.sql.database import Database, Row
from pinfold.store.values import Caller


def conversation_of(db: Database, caller: Caller) -> str:
    """Return the conversation that the caller is in now: the one that its client's process went over to, if any."""
    query = "SELECT conversation FROM client_run WHERE client = ? AND run = ?"
    rows = (db.execute(query, (caller.client, run)).fetchone() for run in caller.runs)
    return next((str(row[0]) for row in rows if row is not None), caller.conversation)


def current(db: Database, caller: Caller) -> int | None:
    """Return the session that the caller's conversation continues, None when it has none yet."""
    row = db.execute(
        "SELECT session FROM conversation WHERE client = ? AND conversation = ?",
        (caller.client, conversation_of(db, caller)),
    ).fetchone()
    return None if row is None else int(row[0])


@dataclass(frozen=True, slots=True)
class Heritage:
    """A session that counts for another one, up to a seq: itself without limit, then those it was forked from."""

    session: int
    until: int


def lineage(db: Database, session: int | None) -> tuple[Heritage, ...]:
    """Return the session and those it was forked from, nearest first, each up to its fork."""
    found: list[Heritage] = []
    until = 2**62
    while session is not None and len(found) < 100:
        found.append(Heritage(session, until))
        row = db.execute(
            "SELECT origin.session, origin.seq FROM session JOIN event AS begun ON begun.seq = session.seq"
            " JOIN event AS origin ON origin.seq = begun.parent WHERE session.number = ?",
            (session,),
        ).fetchone()
        session, until = (None, until) if row is None else (int(row[0]), min(until, int(row[1])))
    return tuple(found)


def inherits(heritage: tuple[Heritage, ...], session: int, seq: int) -> bool:
    """Whether what a session wrote at a seq counts for the session of this heritage."""
    return any(session == part.session and seq <= part.until for part in heritage)


def live_pins(db: Database, session: int | None, columns: str = "*") -> list[Row]:
    """Return the live pins that a session's brief shows: the project's, and its own or inherited session-only ones."""
    heritage = lineage(db, session)
    inherited = " OR session = ? AND seq <= ?" * len(heritage)
    return db.execute(
        f"SELECT {columns} FROM pin WHERE superseded_by IS NULL AND (session_only = 0{inherited}) ORDER BY number",  # noqa: S608
        [value for part in heritage for value in (part.session, part.until)],
    ).fetchall()


def epoch_of(db: Database, session: int | None, as_of: int = 2**62) -> int | None:
    """Return the seq at which a session was last given a brief anew: its start or its last fold, whichever is later."""
    row = db.execute(
        "SELECT max(seq) FROM (SELECT seq FROM session WHERE number = :session"
        " UNION ALL SELECT seq FROM fold WHERE session = :session) AS given WHERE seq <= :seq",
        {"session": session, "seq": as_of},
    ).fetchone()
    return None if row[0] is None else int(row[0])


def previous_of(db: Database, session: int | None, as_of: int = 2**62) -> int | None:
    """Return the checkpoint that a session goes on from: its own, an inherited one, else the project's newest."""
    for heritage in lineage(db, session):
        row = db.execute(
            "SELECT max(number) FROM checkpoint WHERE session = ? AND seq <= ?",
            (heritage.session, min(heritage.until, as_of)),
        ).fetchone()
        if row[0] is not None:
            return int(row[0])
    row = db.execute("SELECT max(number) FROM checkpoint WHERE seq <= ?", (as_of,)).fetchone()
    return None if row[0] is None else int(row[0])


def closed_later(db: Database, checkpoint: Checkpoint, seq: int) -> tuple[str, ...]:
    """Return the pending items of a checkpoint that it or a later one, up to `seq`, says are done."""
    rows = db.execute(
        "SELECT state FROM checkpoint WHERE number >= ? AND seq <= ?", (checkpoint.number, seq)
    ).fetchall()
    done = {item for row in rows for item in json.loads(row["state"])["done"]}
    return tuple(item for item in checkpoint.pending if item in done)


def newest_of(db: Database, number: int) -> int:
    """Return the live pin at the end of a pin's chain of replacements (itself when it is live)."""
    row = db.execute(
        "WITH RECURSIVE chain (number, by) AS ("
        " SELECT number, superseded_by FROM pin WHERE number = ?"
        " UNION SELECT pin.number, pin.superseded_by FROM pin JOIN chain ON pin.number = chain.by)"
        " SELECT number FROM chain WHERE by IS NULL",
        (number,),
    ).fetchone()
    return number if row is None else int(row[0])
