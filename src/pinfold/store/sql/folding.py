"""Folds: what one would fold now, and the verb `record_fold`."""

from __future__ import annotations

import json
import sys

from pinfold.store.commands import RecordFold
from pinfold.store.errors import DamagedError, NotFoundError
from pinfold.store.events import Body, Event, Kind
from pinfold.store.results import Entry, FoldedPart, FormerSummary, RecordedFold
from pinfold.store.sql import sessions
from pinfold.store.sql.database import Database
from pinfold.store.sql.lineage import current, epoch_of, live_pins
from pinfold.store.sql.reading import fold_by_number
from pinfold.store.sql.rows import entry_of, event_of, fold_of, pin_of
from pinfold.store.sql.spilling import spill_unindexed
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of
from pinfold.store.values import Caller

_OF_AGENT = '"external_id":"agent:'
"""Stands in the body of a message that a sub-agent came to."""

FOLDED_ENTRIES = 20_000
FOLDED_BYTES = 4 * 1024 * 1024
"""Of text as it lies in memory: where it is not all Latin, a character takes two or four."""


def folded_part(db: Database, caller: Caller, key: str) -> FoldedPart | None:
    """Return what the fold `key` folds; see `Store.folded_part`."""
    if _recorded(db, key) is not None:
        return None
    session = current(db, caller)
    since = epoch_of(db, session) or 0
    entries = _entries(db, session, since)
    total = db.execute(
        "SELECT count(*) FROM event WHERE session = ? AND seq > ? AND kind = ?",
        (session, since, Kind.MESSAGE_APPENDED),
    ).fetchone()[0]
    pins = tuple(map(pin_of, live_pins(db, session)))
    return FoldedPart(session, since, entries, pins, total - len(entries), _former(db, session))


def _former(db: Database, session: int | None) -> FormerSummary | None:
    """Return the summary of the last fold, as far as it can be read."""
    row = db.execute(
        "SELECT * FROM fold WHERE session = ? ORDER BY number DESC LIMIT 1", (session,)
    ).fetchone()
    fold = None if row is None else fold_of(row)
    if fold is None or fold.summary is None:
        return None
    from pinfold.store.sql.slices import artifact_bytes  # what unpacks is not for the first fold

    try:
        content = artifact_bytes(db, fold.summary, 0, FOLDED_BYTES).content
    except DamagedError:
        return None
    return FormerSummary(fold.seq, f"A{fold.summary}", content.decode("utf-8", "replace"))


def _entries(db: Database, session: int | None, since: int) -> tuple[Entry, ...]:
    rows = db.stream(
        "SELECT * FROM event WHERE session = ? AND seq > ? AND kind = ? ORDER BY seq DESC LIMIT ?",
        (session, since, Kind.MESSAGE_APPENDED, FOLDED_ENTRIES),
    )
    found: list[Entry] = []
    room = FOLDED_BYTES
    for event in map(event_of, rows):
        if event.body is None:
            continue
        entry = entry_of(event, None, None)
        room -= sys.getsizeof(entry.text)
        if room < 0:
            break
        found.append(entry)
    return tuple(reversed(found))


def _recorded(db: Database, key: str) -> Event | None:
    row = db.execute("SELECT * FROM event WHERE kind = ? AND key = ?", (Kind.FOLD_RECORDED, key)).fetchone()
    return None if row is None else event_of(row)


def record_fold(tx: Transaction, command: RecordFold) -> RecordedFold:
    """Append the fold with its summary, or find it; see `Store.record_fold`."""
    command = tx.clean(command)
    session = sessions.ensure(tx, command.caller)
    event = _recorded(tx.db, command.key)
    told = None if event else _told_live(tx, session, command)
    if told is not None:
        event = told if command.live else _amend(tx, command, told)
    repeated = event is not None
    event = event or _append(tx, command, session)
    return RecordedFold(fold_by_number(tx.db, _number(tx, event)), receipt_of(event), repeated)


def _number(tx: Transaction, event: Event) -> int:
    """Return the number of the fold that an event told of; its body may be blank, told anew without the forgotten."""
    if event.body is not None:
        return int(event.body["number"])
    row = tx.db.execute("SELECT number FROM fold WHERE seq = ?", (event.seq,)).fetchone()
    if row is None:
        raise NotFoundError("This fold", "it was forgotten on request", "Go on without it.")
    return int(row[0])


def _told_live(tx: Transaction, session: int, command: RecordFold) -> Event | None:
    """Return the session's fold that this is about, too, if there is one."""
    seq = _same_as_told(tx, session, command) if command.live else _written_now(tx, session, command)
    return None if seq is None else tx.event(seq)


def _same_as_told(tx: Transaction, session: int, command: RecordFold) -> int | None:
    """Return the last fold, of which a hook tells once more.

    It is the same while nothing came in between but what a sub-agent in the background came to, unless a hook told
    of it with another summary; that of the transcript, which the client may write first, has its own wording.
    """
    row = tx.db.execute(
        "SELECT seq, body FROM fold WHERE session = ? ORDER BY number DESC LIMIT 1", (session,)
    ).fetchone()
    if row is None:
        return None
    body = json.loads(row["body"])
    came = tx.db.execute(
        "SELECT 1 FROM event WHERE session = ? AND seq > ? AND kind = ?"
        " AND instr(coalesce(body, ''), ?) = 0 LIMIT 1",
        (session, row["seq"], Kind.MESSAGE_APPENDED, _OF_AGENT),
    ).fetchone()
    is_other = bool(body.get("live")) and _digest(body) != _digest_of(command)
    return None if came or is_other else int(row["seq"])


def _written_now(tx: Transaction, session: int, command: RecordFold) -> int | None:
    """Return the fold that a hook told of and the transcript now, too: the one of that summary, else the last one."""
    rows = tx.db.execute(
        "SELECT seq, body FROM fold WHERE session = ? ORDER BY number", (session,)
    ).fetchall()
    told = [(int(row["seq"]), body) for row in rows if (body := json.loads(row["body"])).get("live")]
    same = [seq for seq, body in told if _digest(body) == _digest_of(command)]
    return next(iter(same), told[-1][0] if told and told[-1][0] == rows[-1]["seq"] else None)


def _digest(body: Body) -> str | None:
    summary = body["summary"]
    return None if summary is None else str(summary["sha256"])


def _digest_of(command: RecordFold) -> str | None:
    return None if command.summary is None else command.summary.content.sha256.hex()


def _amend(tx: Transaction, command: RecordFold, told: Event) -> Event:
    """Note the client's own id and figures of a fold that a hook had told of."""
    figures = {"tokens_before": command.tokens_before, "tokens_after": command.tokens_after}
    known: Body = {name: figure for name, figure in figures.items() if figure is not None}
    known |= {"live": False, "trigger": command.trigger}
    body: Body = {"number": _number(tx, told), "amends": True, "known": known}
    return tx.append(Draft(Kind.FOLD_RECORDED, body, told.session, command.caller.actor, command.key))


def _append(tx: Transaction, command: RecordFold, session: int) -> Event:
    body: Body = {
        "number": tx.next_number("fold"),
        "trigger": command.trigger,
        "live": command.live,
        "at": command.at,
        "tokens_before": command.tokens_before,
        "tokens_after": command.tokens_after,
        "messages": command.messages,
        "summary": _summary(tx, command),
        "present": {str(number): count for number, count in command.present.items()},
        "lost": {str(number): list(parts) for number, parts in command.lost.items()},
        "offered": [list(pair) for pair in command.offered],
        "strings": [list(pair) for pair in command.strings],
    }
    if command.folded:
        body["folded"] = list(command.folded)
    return tx.append(Draft(Kind.FOLD_RECORDED, body, session, command.caller.actor, command.key))


def _summary(tx: Transaction, command: RecordFold) -> Body | None:
    """Store the summary; it is searched as the fold."""
    if command.summary is None:
        return None
    content = command.summary.content
    stored = spill_unindexed(tx, command.summary).body
    assert stored is not None
    return {
        "artifact": stored["number"],
        "sha256": stored["sha256"],
        "indexed_bytes": content.size_bytes if content.is_text else 0,
    }
