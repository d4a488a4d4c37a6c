"""Bookkeeping about clients that is no part of the log: how far transcripts are read, who is in which conversation."""

from __future__ import annotations

from datetime import datetime, timedelta

from pinfold.store.commands import StartSession, TranscriptMark
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.lineage import current
from pinfold.store.sql.transaction import Transaction
from pinfold.store.values import Caller, stamp

_KEPT_RUNS = 200


def register(tx: Transaction, command: StartSession) -> None:
    """Remember where the conversation's transcript lies, and which process of the client is in it."""
    caller = command.caller
    if command.transcript is not None:
        tx.db.execute(
            "INSERT INTO transcript (path, client, conversation, byte_offset, head) VALUES (?, ?, ?, 0, '')"
            " ON CONFLICT (path) DO UPDATE SET client = excluded.client, conversation = excluded.conversation",
            (command.transcript, caller.client, caller.conversation),
        )
    if command.run is not None:
        _meet(tx, command)


def _meet(tx: Transaction, command: StartSession) -> None:
    """Note that a process of the client is in this conversation now, and drop who was met longest ago."""
    tx.db.execute(
        "INSERT INTO client_run (client, run, conversation, at, model) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (client, run) DO UPDATE SET conversation = excluded.conversation, at = excluded.at,"
        " model = coalesce(excluded.model, client_run.model)",
        (command.caller.client, command.run, command.caller.conversation, _behind_all(tx), command.model),
    )
    tx.db.execute(
        "DELETE FROM client_run WHERE at < (SELECT at FROM client_run ORDER BY at DESC LIMIT 1 OFFSET ?)",
        (_KEPT_RUNS,),
    )


def _behind_all(tx: Transaction) -> str:
    """Return the time, or what comes next after the newest meeting's: a clock set back would put the new one last."""
    newest = tx.db.execute("SELECT max(at) FROM client_run").fetchone()[0]
    if newest is None or newest < tx.at:
        return tx.at
    return stamp(datetime.fromisoformat(newest) + timedelta(microseconds=1))


def save(tx: Transaction, mark: TranscriptMark) -> None:
    """Remember how far a transcript has been read."""
    mark = tx.clean(mark)
    tx.db.execute(
        "INSERT INTO transcript (path, client, conversation, byte_offset, head) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET client = excluded.client, conversation = excluded.conversation,"
        " byte_offset = excluded.byte_offset, head = excluded.head",
        (mark.path, mark.client, mark.conversation, mark.offset, mark.head),
    )


def by_path(db: Database, path: str) -> TranscriptMark | None:
    """Return how far a transcript has been read, None for an unknown one."""
    row = db.execute("SELECT * FROM transcript WHERE path = ?", (path,)).fetchone()
    return None if row is None else _mark(row)


def of_caller(db: Database, caller: Caller) -> tuple[TranscriptMark, ...]:
    """Return the known transcripts of the session that the caller's conversation continues."""
    rows = db.execute(
        "SELECT transcript.* FROM transcript JOIN conversation USING (client, conversation)"
        " WHERE conversation.session = ? ORDER BY path",
        (current(db, caller),),
    ).fetchall()
    return tuple(map(_mark, rows))


def _mark(row: Row) -> TranscriptMark:
    return TranscriptMark(row["path"], row["client"], row["conversation"], row["byte_offset"], row["head"])
