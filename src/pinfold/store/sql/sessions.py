"""How a session begins: when a client says so, at a conversation's first write, or as a fork."""

from __future__ import annotations

from pinfold.store.commands import StartSession
from pinfold.store.errors import ConflictError, NotFoundError
from pinfold.store.events import Body, Event, Kind
from pinfold.store.results import StartedSession
from pinfold.store.session_results import Session
from pinfold.store.sql import marks
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.lineage import conversation_of, current
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of
from pinfold.store.values import Caller

_LISTED = (
    "SELECT session.number, session.seq, session.at, session.client, session.conversation, session.origin,"
    " newest.seq AS last_seq, newest.at AS last_at,"
    " followed.session AS origin_session, followed.seq AS origin_seq,"
    " (SELECT count(*) FROM event WHERE event.session = session.number) AS events,"
    " (SELECT count(*) FROM pin WHERE pin.session = session.number) AS pins,"
    " (SELECT count(*) FROM fold WHERE fold.session = session.number) AS folds"
    " FROM session"
    " JOIN event newest ON newest.seq = (SELECT max(seq) FROM event WHERE event.session = session.number)"
    " JOIN event begun ON begun.seq = session.seq LEFT JOIN event followed ON followed.seq = begun.parent"
    " WHERE session.number < ? ORDER BY session.number DESC LIMIT ?"
)


def listed(db: Database, before: int | None, limit: int) -> tuple[Session, ...]:
    """Return sessions, newest first; see `Store.sessions`."""
    rows = db.execute(_LISTED, (2**62 if before is None else before, limit)).fetchall()
    return tuple(Session(**{name: row[name] for name in row.keys()}) for row in rows)  # noqa: SIM118 - a Row


def newest(db: Database) -> int:
    """Return the number of the newest session, 0 where none has begun."""
    return int(db.execute("SELECT coalesce(max(number), 0) FROM session").fetchone()[0])


def there_are(db: Database) -> str:
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
        _check_origin(tx.db, session, command.fork_at)
        return StartedSession(session, None, repeated=True)
    seq, caller = command.fork_at, command.caller
    event = start(tx, caller) if seq is None else _fork_at(tx, caller, seq)
    return StartedSession(event.session, receipt_of(event), repeated=False)


def ensure(tx: Transaction, caller: Caller) -> int:
    """Return the caller's session, beginning one when this is its first write."""
    session = current(tx.db, caller)
    return start(tx, caller).session if session is None else session


def start(tx: Transaction, caller: Caller) -> Event:
    """Begin a new session that follows nothing."""
    return _begin(tx, caller, 0, {})


def fork(tx: Transaction, caller: Caller, origin: Row, key: str | None, request: str | None) -> Event:
    """Begin a new session that follows a checkpoint (a row of `checkpoint`)."""
    known: Body = {"origin": origin["number"], "request": request}
    return _begin(tx, caller, int(origin["seq"]), known, key)


def _check_origin(db: Database, session: int, fork_at: int | None) -> None:
    """Refuse to let a conversation that has begun continue from elsewhere."""
    query = "SELECT parent FROM event JOIN session USING (seq) WHERE number = ?"
    if fork_at is not None and db.execute(query, (session,)).fetchone()[0] != fork_at:
        raise ConflictError(
            f"This conversation goes on in session {session} already; nothing was forked.",
            "Fork into a conversation of a new name.",
        )


def _fork_at(tx: Transaction, caller: Caller, seq: int) -> Event:
    """Begin a new session that follows an event; of a checkpoint's the session knows it as its origin."""
    row = tx.db.execute("SELECT session FROM event WHERE seq = ? AND session > 0", (seq,)).fetchone()
    if row is None:
        why = "there is no such event of a session"
        raise NotFoundError(f"fork_at {seq}", why, "Fork at a message's or a checkpoint's seq.")
    found = tx.db.execute("SELECT number FROM checkpoint WHERE seq = ?", (seq,)).fetchone()
    return _begin(tx, caller, seq, {"origin": None if found is None else found["number"]})


def _begin(tx: Transaction, caller: Caller, parent: int, known: Body, key: str | None = None) -> Event:
    number = tx.next_number("session")
    body: Body = {
        "number": number,
        "client": caller.client,
        "conversation": conversation_of(tx.db, caller),
        "origin": None,
        "head": caller.head,
        "branch": caller.branch,
        "request": None,
    }
    return tx.append(Draft(Kind.SESSION_STARTED, body | known, number, caller.actor, key, parent))
