"""Changes turned into SQL: the only place that writes to the views and to the index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from pinfold.store.errors import DamagedError
from pinfold.store.sql.answers import put_answer, take_out_answers
from pinfold.store.sql.database import Database, insertion
from pinfold.store.views import (
    AmendFold,
    Answer,
    Change,
    ContinueConversation,
    MarkSuperseded,
    Omit,
    PutEntry,
    PutRow,
    Unanswer,
)

INDEXED_WHOLE_BYTES = 8 * 1024 * 1024
"""Up to which size search covers all of an artifact: the log is held while it is read into the index, 0.2 s a MiB."""

INDEXED_HEAD_BYTES = 768 * 1024
INDEXED_TAIL_BYTES = 256 * 1024


def is_at_an_end(start: int, size_bytes: int, total_bytes: int) -> bool:
    """Whether the chunk at `start` is one of those that search covers of an artifact that is too large to be whole."""
    return start < INDEXED_HEAD_BYTES or start + size_bytes > total_bytes - INDEXED_TAIL_BYTES


def apply(db: Database, found: Iterable[Change]) -> None:
    """Carry out changes in order."""
    for change in found:
        match change:
            case PutRow():
                _put_row(db, change)
            case MarkSuperseded():
                db.execute(
                    "UPDATE pin SET superseded_by = ?, superseded_seq = ? WHERE number = ?",
                    (change.by, change.seq, change.number),
                )
            case ContinueConversation():
                db.execute(
                    "INSERT INTO conversation (client, conversation, session) VALUES (?, ?, ?)"
                    " ON CONFLICT (client, conversation) DO UPDATE SET session = excluded.session",
                    (change.client, change.conversation, change.number),
                )
            case Omit():
                db.execute(
                    "INSERT INTO omission (session, message, seq, how) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT (session, message) DO UPDATE SET seq = excluded.seq, how = excluded.how",
                    (change.session, change.message, change.seq, change.how),
                )
            case AmendFold():
                _amend_fold(db, change)
            case PutEntry():
                _put_entry(db, change)
            case Answer():
                put_answer(db, change)
            case Unanswer():
                take_out_answers(db, change.pointers)


def _column(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return int(value) if isinstance(value, bool) else value


def _put_row(db: Database, change: PutRow) -> None:
    values = [_column(value) for value in change.row.values()]
    db.execute(insertion(change.table, tuple(change.row)), values)


def _amend_fold(db: Database, change: AmendFold) -> None:
    row = db.execute("SELECT body FROM fold WHERE number = ?", (change.number,)).fetchone()
    if row is not None:
        body = json.loads(row[0]) | change.known
        db.execute("UPDATE fold SET body = ? WHERE number = ?", (_column(body), change.number))


def _put_entry(db: Database, change: PutEntry) -> None:
    entry = _insert_entry(db, change, chunk=None)
    if change.text:
        db.put_words(entry, change.text)
    for path in change.paths:
        name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
        db.execute(
            "INSERT INTO entry_path (name, path, entry) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (name, path, entry),
        )
    if change.sha256 is not None and change.indexed_bytes:
        for chunk, text in _indexed_chunks(db, change.sha256, change.indexed_bytes):
            db.put_words(_insert_entry(db, change, chunk=chunk), text)


def _insert_entry(db: Database, change: PutEntry, *, chunk: int | None) -> int:
    row = {
        "seq": change.seq,
        "pointer": change.pointer,
        "chunk": chunk,
        "kind": change.kind,
        "session": change.session,
        "at": change.at,
        "ref": change.ref,
    }
    return db.insert("entry", row)


def _indexed_chunks(db: Database, sha256: str, indexed_bytes: int) -> Iterator[tuple[int, str]]:
    """Yield the chunks that search covers, but for damaged ones: what is around them can still be found.

    How much that is stands in the event, so that what an earlier pinfold covered less of stays as it was.
    """
    from pinfold.store.sql.chunks import chunk_of  # 5 ms that only an artifact is worth

    content = db.execute(
        "SELECT id, size_bytes FROM content WHERE sha256 = ?", (bytes.fromhex(sha256),)
    ).fetchone()
    if content is None:
        return
    spans = db.execute(
        "SELECT id, start, size_bytes FROM chunk WHERE content = ? ORDER BY start", (content["id"],)
    ).fetchall()
    total = content["size_bytes"]
    for span in spans:
        if indexed_bytes == total or is_at_an_end(span["start"], span["size_bytes"], total):
            row = db.execute("SELECT * FROM chunk WHERE id = ?", (span["id"],)).fetchone()
            with suppress(DamagedError):
                yield row["id"], chunk_of(row).unpack("").decode("utf-8", "replace")
