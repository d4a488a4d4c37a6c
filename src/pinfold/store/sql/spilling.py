"""The verb `spill_artifact`: bytes and their event in one transaction, equal bytes kept once."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pinfold.store.commands import SpillArtifact
from pinfold.store.events import Event, Kind
from pinfold.store.results import SpilledArtifact
from pinfold.store.sql import sessions
from pinfold.store.sql.apply import INDEXED_WHOLE_BYTES, is_at_an_end
from pinfold.store.sql.rows import ARTIFACT_QUERY, artifact_of
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of, request_digest

if TYPE_CHECKING:  # most writes bring no bytes
    from pinfold.store.content import Content

_CHUNK = ("start", "lines_before", "size_bytes", "sha256", "codec", "packed")


def spill_artifact(tx: Transaction, command: SpillArtifact) -> SpilledArtifact:
    """Append the artifact, or find the one that an equal call appended; see `Store.spill_artifact`."""
    command = tx.clean(command)
    request = _request(command)
    earlier = tx.earlier((Kind.ARTIFACT_SPILLED,), command.key, request)
    if earlier is None and command.key is None:
        earlier = _equal_artifact(tx, command)
    if earlier is not None:
        return _result(tx, earlier, repeated=True)
    return _result(tx, _append(tx, command, request), repeated=False)


def spill_unindexed(tx: Transaction, command: SpillArtifact) -> Event:
    """Append an artifact that search finds by another entry, such as a fold's summary by the fold's."""
    return _append(tx, command, _request(command), indexed=False)


def _request(command: SpillArtifact) -> str:
    return request_digest(
        {
            "label": command.label,
            "source": command.source,
            "path": command.path,
            "sha256": command.content.sha256.hex(),
        }
    )


def _equal_artifact(tx: Transaction, command: SpillArtifact) -> Event | None:
    row = tx.db.execute(
        "SELECT seq FROM artifact WHERE sha256 = ? AND label = ? AND source = ? AND path IS ? AND aside <= ?"
        " ORDER BY number",
        (command.content.sha256, command.label, command.source, command.path, int(command.aside)),
    ).fetchone()
    return None if row is None else tx.event(row["seq"])


def _append(tx: Transaction, command: SpillArtifact, request: str, *, indexed: bool = True) -> Event:
    content = command.content
    session = sessions.ensure(tx, command.caller)
    same = tx.db.execute("SELECT min(number) FROM artifact WHERE sha256 = ?", (content.sha256,)).fetchone()[0]
    store_bytes(tx, content)
    searchable = indexed and (content.is_text or command.outline.media_type.startswith("text/"))
    body = {
        "number": tx.next_number("artifact"),
        "label": command.label,
        "source": command.source,
        "path": command.path,
        "sha256": content.sha256.hex(),
        "size_bytes": content.size_bytes,
        "lines": content.lines,
        "indexed_bytes": _indexed_bytes(content) if searchable else 0,
        "outline": asdict(command.outline),
        "same_bytes_as": same,
        "request": request,
    }
    if command.aside:
        body["aside"] = True
    return tx.append(Draft(Kind.ARTIFACT_SPILLED, body, session, command.caller.actor, command.key))


def _indexed_bytes(content: Content) -> int:
    """Return how many of its bytes search will cover."""
    total = content.size_bytes
    if total <= INDEXED_WHOLE_BYTES:
        return total
    return sum(size for start, size in content.spans() if is_at_an_end(start, size, total))


def store_bytes(tx: Transaction, content: Content) -> None:
    """Store bytes that no artifact has yet."""
    if tx.db.execute("SELECT 1 FROM content WHERE sha256 = ?", (content.sha256,)).fetchone():
        return
    row = {
        "sha256": content.sha256,
        "size_bytes": content.size_bytes,
        "lines": content.lines,
        "is_text": int(content.is_text),
    }
    made = tx.db.insert("content", row)
    for chunk in content.chunks():
        tx.db.insert("chunk", {"content": made} | {name: getattr(chunk, name) for name in _CHUNK})


def _result(tx: Transaction, event: Event, *, repeated: bool) -> SpilledArtifact:
    assert event.body is not None
    row = tx.db.execute(f"{ARTIFACT_QUERY} WHERE artifact.number = ?", (event.body["number"],)).fetchone()
    return SpilledArtifact(artifact_of(row), receipt_of(event), repeated)
