"""The verb `checkpoint_state`: save the working state, or go on from an earlier one in a new session."""

from __future__ import annotations

import json

from pinfold.store.commands import CheckpointState
from pinfold.store.errors import InvalidInputError, NotFoundError
from pinfold.store.events import Event, Kind
from pinfold.store.results import BriefState, Checkpoint, SavedCheckpoint
from pinfold.store.sql import sessions
from pinfold.store.sql.briefing import brief_state
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.forgetting.tombstones import refuse_forgotten
from pinfold.store.sql.lineage import closed_later, current, previous_of
from pinfold.store.sql.reading import checkpoint_by_number
from pinfold.store.sql.rows import checkpoint_of
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of, request_digest
from pinfold.store.views import STATE_FIELDS


def checkpoint_state(tx: Transaction, command: CheckpointState, project: str) -> SavedCheckpoint:
    """Append the state, fork, or find what an equal call appended; see `Store.checkpoint_state`."""
    command = tx.clean(command)
    request = request_digest(_state(command) | {"fork_of": command.fork_of})
    earlier = tx.earlier((Kind.STATE_CHECKPOINTED, Kind.SESSION_STARTED), command.key, request)
    if earlier is None and command.key is None:
        earlier = _equal_latest(tx, command) if command.fork_of is None else _equal_fork(tx, command, request)
    if earlier is not None:
        event, repeated = earlier, True
    else:
        event, repeated = _append(tx, command, request), False
    return _result(tx, event, brief_state(tx.db, project, command.caller), repeated=repeated)


def _state(command: CheckpointState) -> dict[str, object]:
    values = ((name, getattr(command, name)) for name in STATE_FIELDS)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values}


def _equal_latest(tx: Transaction, command: CheckpointState) -> Event | None:
    session = current(tx.db, command.caller)
    row = tx.db.execute(
        "SELECT * FROM checkpoint WHERE session = ? ORDER BY number DESC LIMIT 1", (session,)
    ).fetchone()
    if row is None or json.loads(row["state"]) != _state(command):
        return None
    same_place = (row["head"], row["branch"]) == (command.caller.head, command.caller.branch)
    return tx.event(row["seq"]) if same_place else None


def _equal_fork(tx: Transaction, command: CheckpointState, request: str) -> Event | None:
    """Return the same fork if nothing was written in it yet; after that, the call asks for a fresh one."""
    session = current(tx.db, command.caller)
    row = tx.db.execute("SELECT max(seq) FROM event WHERE session = ?", (session,)).fetchone()
    newest = None if row[0] is None else tx.event(row[0])
    is_same = newest is not None and newest.body is not None and newest.body.get("request") == request
    return newest if is_same else None


def _append(tx: Transaction, command: CheckpointState, request: str) -> Event:
    caller = command.caller
    if command.fork_of is not None:
        origin = _origin(tx.db, command.fork_of)
        if command.is_empty:
            return sessions.fork(tx, caller, origin, command.key, request)
        session = sessions.fork(tx, caller, origin, None, None).session
    elif command.is_empty:
        raise InvalidInputError(
            "checkpoint_state was called without any state.",
            "Give at least a goal, pending items or a next_step.",
        )
    else:
        session = sessions.ensure(tx, caller)
    body = {
        "number": tx.next_number("checkpoint"),
        **_state(command),
        "head": caller.head,
        "branch": caller.branch,
        "tokens": command.tokens,
        "previous": previous_of(tx.db, session),
        "forked_from": command.fork_of,
        "request": request,
    }
    return tx.append(Draft(Kind.STATE_CHECKPOINTED, body, session, caller.actor, command.key))


def _origin(db: Database, number: int) -> Row:
    row: Row | None = db.execute("SELECT * FROM checkpoint WHERE number = ?", (number,)).fetchone()
    if row is None:
        refuse_forgotten(db, "C", number)
        hint = 'fetch_pointer("checkpoints") lists them.'
        raise NotFoundError(f"fork_of C{number}", "there is no such checkpoint", hint)
    return row


def _result(tx: Transaction, event: Event, brief: BriefState, *, repeated: bool) -> SavedCheckpoint:
    body = event.body
    assert body is not None
    if event.kind is Kind.SESSION_STARTED:
        checkpoint = checkpoint_by_number(tx.db, body["origin"])
        previous = forked_from = body["origin"]
        done = closed_later(tx.db, checkpoint, event.seq)
    else:
        checkpoint = checkpoint_by_number(tx.db, body["number"])
        previous, forked_from, done = body["previous"], body["forked_from"], ()
    before = () if previous is None else _open_before(tx.db, previous)
    now = tuple(item for item in _open_items(checkpoint) if item not in done)
    return SavedCheckpoint(
        checkpoint=checkpoint,
        receipt=receipt_of(event),
        repeated=repeated,
        session=event.session,
        forked_from=forked_from,
        previous=previous,
        opened=tuple(item for item in now if item not in before),
        closed=tuple(item for item in before if item not in now),
        kept=tuple(item for item in now if item in before),
        brief=brief,
    )


def _open_before(db: Database, number: int) -> tuple[str, ...]:
    """Return what was open at an earlier checkpoint; nothing is known of a forgotten one."""
    row = db.execute("SELECT * FROM checkpoint WHERE number = ?", (number,)).fetchone()
    return () if row is None else _open_items(checkpoint_of(row))


def _open_items(checkpoint: Checkpoint) -> tuple[str, ...]:
    return tuple(item for item in checkpoint.pending if item not in checkpoint.done)
