"""Rows of the tables, turned into the contract's results; one function per table, columns by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pinfold.store.commands import Outline
from pinfold.store.events import Event, Kind, body_of
from pinfold.store.results import Artifact, Checkpoint, Entry, Fold, Pin
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.readable import readable
from pinfold.store.values import COMMAND_LINE, PinKind

if TYPE_CHECKING:  # the brief reads much, but no searches
    from pinfold.store.search_results import SearchRecord

ARTIFACT_QUERY = (
    "SELECT artifact.*, content.size_bytes, content.lines, content.is_text FROM artifact"
    " JOIN content ON content.sha256 = artifact.sha256"
)
MISS_QUERY = (
    "SELECT miss.*, client, pointer AS answer, how FROM miss LEFT JOIN answer ON answer.miss = miss.seq"
    " LEFT JOIN session ON session.number = miss.session"
)
SEARCH_QUERY = "SELECT search.*, client FROM search LEFT JOIN session ON session.number = search.session"


@readable("event")
def event_of(row: Row) -> Event:
    """Read a row of `event`."""
    body = None if row["body"] is None else body_of(row["body"], row["version"])
    return Event(
        row["seq"],
        row["at"],
        row["session"],
        row["actor"],
        Kind(row["kind"]),
        row["key"],
        row["parent"],
        row["version"],
        body,
        row["body_digest"],
        row["digest"],
    )


def event_at(db: Database, seq: int) -> Event:
    """Return the event `seq`, which is there."""
    return event_of(db.execute("SELECT * FROM event WHERE seq = ?", (seq,)).fetchone())


def _texts(column: str) -> tuple[str, ...]:
    return tuple(json.loads(column))


@readable("pin")
def pin_of(row: Row) -> Pin:
    """Read a row of `pin`."""
    return Pin(
        number=row["number"],
        seq=row["seq"],
        at=row["at"],
        session=row["session"],
        actor=row["actor"],
        kind=PinKind(row["kind"]),
        text=row["text"],
        why=row["why"],
        session_only=bool(row["session_only"]),
        files=_texts(row["files"]),
        specifics=_texts(row["specifics"]),
        tokens=row["tokens"],
        supersedes=tuple(json.loads(row["supersedes"])),
        superseded_by=row["superseded_by"],
        superseded_seq=row["superseded_seq"],
    )


def outline_of(fields: dict[str, Any]) -> Outline:
    """Read an outline as it stands in an event's body."""
    return Outline(**{**fields, "first_errors": tuple(fields["first_errors"])})


@readable("artifact")
def artifact_of(row: Row) -> Artifact:
    """Read a row of `ARTIFACT_QUERY`."""
    return Artifact(
        number=row["number"],
        seq=row["seq"],
        at=row["at"],
        session=row["session"],
        label=row["label"],
        source=row["source"],
        path=row["path"],
        sha256=row["sha256"].hex(),
        size_bytes=row["size_bytes"],
        lines=row["lines"],
        is_text=bool(row["is_text"]),
        indexed_bytes=row["indexed_bytes"],
        outline=outline_of(json.loads(row["outline"])),
        same_bytes_as=row["same_bytes_as"],
    )


@readable("checkpoint")
def checkpoint_of(row: Row) -> Checkpoint:
    """Read a row of `checkpoint`."""
    state = json.loads(row["state"])
    return Checkpoint(
        number=row["number"],
        seq=row["seq"],
        at=row["at"],
        session=row["session"],
        goal=state["goal"],
        done=tuple(state["done"]),
        pending=tuple(state["pending"]),
        facts=tuple(state["facts"]),
        constraints=tuple(state["constraints"]),
        next_step=state["next_step"],
        files=tuple(state["files"]),
        head=row["head"],
        branch=row["branch"],
        tokens=row["tokens"],
    )


@readable("event")
def entry_of(event: Event, before: int | None, after: int | None) -> Entry:
    """Read a `message.appended` event that still has its body."""
    body = event.body
    assert body is not None
    return Entry(
        seq=event.seq,
        at=body.get("at", event.at),
        session=event.session,
        role=body["role"],
        text=body["text"],
        tool=body.get("tool"),
        call_id=body.get("call_id"),
        external_id=body.get("external_id"),
        tokens=body.get("tokens", 0),
        tokens_estimated=not body.get("exact", False),
        before=before,
        after=after,
    )


@readable("fold")
def fold_of(row: Row) -> Fold:
    """Read a row of `fold`."""
    body = json.loads(row["body"])
    return Fold(
        number=row["number"],
        seq=row["seq"],
        at=body["at"] or row["at"],
        session=row["session"],
        trigger=body["trigger"],
        tokens_before=body["tokens_before"],
        tokens_after=body["tokens_after"],
        messages=body["messages"],
        summary=body["summary"] and body["summary"]["artifact"],
        lost={int(number): tuple(lost) for number, lost in body["lost"].items()},
        present={int(number): count for number, count in body["present"].items()},
        offered=tuple((pointer, sentence) for pointer, sentence in body["offered"]),
        strings=tuple((text, pointer) for text, pointer in body["strings"]),
    )


@readable("miss")
def miss_of(row: Row) -> SearchRecord:
    """Read a row of `MISS_QUERY`."""
    from pinfold.store.search_results import SearchRecord

    return SearchRecord(
        number=row["search"] or 0,
        seq=row["seq"],
        at=row["at"],
        session=row["session"],
        query=row["query"],
        hits=_texts(row["hits"]),
        missed=row["why"],
        by_person=row["client"] == COMMAND_LINE,
        answer=row["answer"],
        how=row["how"],
    )


@readable("search")
def search_of(row: Row) -> SearchRecord:
    """Read a row of `SEARCH_QUERY`."""
    from pinfold.store.search_results import SearchRecord

    return SearchRecord(
        number=row["number"],
        seq=None,
        at=row["at"],
        session=row["session"],
        query=row["query"],
        hits=_texts(row["hits"]),
        by_person=row["client"] == COMMAND_LINE,
    )
