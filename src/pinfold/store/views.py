"""What an event changes in the views: a pure function, the same when live and when rebuilt.

`changes(event)` reads nothing but the event; the backend turns each `Change` into its own statements.
Views never refuse: an event in the log is a fact. Source: design 1, How data flows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pinfold.store.events import Event, Kind


@dataclass(frozen=True, slots=True)
class PutRow:
    """One row for a view, by column name."""

    table: str
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MarkSuperseded:
    """The pin `number` is replaced by the pin `by` since `seq`."""

    number: int
    by: int
    seq: int


@dataclass(frozen=True, slots=True)
class ContinueConversation:
    """From now on this conversation of this client continues the session `number`."""

    client: str
    conversation: str
    number: int


@dataclass(frozen=True, slots=True)
class PutEntry:
    """One searchable piece: `text`, and of the content `sha256` the beginning and the end.

    Nothing of that content is searchable where `indexed_bytes`, how much of it is covered, is 0.
    """

    seq: int
    pointer: str
    kind: str
    session: int
    at: str
    text: str
    ref: str | None = None
    paths: tuple[str, ...] = ()
    sha256: str | None = None
    indexed_bytes: int = 0


@dataclass(frozen=True, slots=True)
class AmendFold:
    """More is known of the fold `number`: these fields of its body are as `known` says."""

    number: int
    known: dict[str, Any]


Change = AmendFold | PutRow | MarkSuperseded | ContinueConversation | PutEntry


def changes(event: Event) -> list[Change]:
    """Return what an event does to the views, in order. A forgotten event changes nothing."""
    if event.body is None:
        return []
    match event.kind:
        case Kind.SESSION_STARTED:
            return _session_started(event, event.body)
        case Kind.DECISION_PINNED:
            return _decision_pinned(event, event.body)
        case Kind.DECISION_SUPERSEDED:
            return [MarkSuperseded(event.body["number"], event.body["by"], event.seq)]
        case Kind.ARTIFACT_SPILLED:
            return _artifact_spilled(event, event.body)
        case Kind.STATE_CHECKPOINTED:
            return _state_checkpointed(event, event.body)
        case Kind.MESSAGE_APPENDED:
            return _message_appended(event, event.body)
        case Kind.FOLD_RECORDED:
            return _fold_recorded(event, event.body)
        case Kind.SEARCH_MISSED:
            return [_search_missed(event, event.body)]
        case Kind.ENTRY_FORGOTTEN:
            return _entry_forgotten(event, event.body)
        case Kind.PROJECTION_COMMITTED:
            return []


def _place(event: Event) -> dict[str, Any]:
    assert event.body is not None
    return {"number": event.body["number"], "seq": event.seq, "at": event.at, "session": event.session}


def _session_started(event: Event, body: dict[str, Any]) -> list[Change]:
    row = {
        "number": body["number"],
        "seq": event.seq,
        "at": event.at,
        "client": body["client"],
        "conversation": body["conversation"],
        "origin": body["origin"],
    }
    return [
        PutRow("session", row),
        ContinueConversation(body["client"], body["conversation"], body["number"]),
    ]


def _decision_pinned(event: Event, body: dict[str, Any]) -> list[Change]:
    names = ("kind", "text", "why", "session_only", "files", "specifics", "tokens", "supersedes")
    row = _place(event) | {"actor": event.actor} | {name: body[name] for name in names}
    row["at"] = body.get("said_at", event.at)
    kind = "dead_ends" if body["kind"] == "dead_end" else "pins"
    text = f"{body['text']}\n{body['why']}"
    entry = PutEntry(
        event.seq, f"P{body['number']}", kind, event.session, row["at"], text, paths=tuple(body["files"])
    )
    return [PutRow("pin", row), entry]


def _artifact_spilled(event: Event, body: dict[str, Any]) -> list[Change]:
    names = ("label", "source", "path", "sha256", "indexed_bytes", "outline", "same_bytes_as")
    row = _place(event) | {name: body[name] for name in names}
    row["sha256"] = bytes.fromhex(body["sha256"])
    row["aside"] = body.get("aside", False)
    pointer = f"A{body['number']}"
    title = "\n".join(text for text in (body["label"], body["source"], body["path"]) if text)
    paths = (body["path"],) if body["path"] else ()
    return [
        PutRow("artifact", row),
        PutEntry(
            event.seq,
            pointer,
            "artifacts",
            event.session,
            event.at,
            title,
            paths=paths,
            sha256=body["sha256"],
            indexed_bytes=body["indexed_bytes"],
        ),
    ]


STATE_FIELDS = ("goal", "done", "pending", "facts", "constraints", "next_step", "files")


def checkpoint_text(state: dict[str, Any]) -> str:
    """Return the searchable text of a checkpoint's state: one item a line."""
    lines: list[str] = [state["goal"]]
    for name in ("done", "pending", "facts", "constraints"):
        lines.extend(state[name])
    lines.append(state["next_step"])
    return "\n".join(line for line in lines if line)


def _state_checkpointed(event: Event, body: dict[str, Any]) -> list[Change]:
    state = {name: body[name] for name in STATE_FIELDS}
    row = _place(event) | {name: body[name] for name in ("head", "branch", "tokens")} | {"state": state}
    text = checkpoint_text(state)
    pointer = f"C{body['number']}"
    entry = PutEntry(
        event.seq, pointer, "checkpoints", event.session, event.at, text, paths=tuple(body["files"])
    )
    return [PutRow("checkpoint", row), entry]


def _message_appended(event: Event, body: dict[str, Any]) -> list[Change]:
    kind = "tool_results" if body["role"] == "tool_result" else "messages"
    at = body.get("at", event.at)
    external_id = body.get("external_id")
    found: list[Change] = []
    if external_id:
        row = {"session": event.session, "external_id": external_id, "seq": event.seq}
        found.append(PutRow("external", row))
    entry = PutEntry(
        event.seq,
        f"H{event.seq}",
        kind,
        event.session,
        at,
        body["text"],
        ref=external_id,
        paths=tuple(body.get("files", ())),
    )
    return [*found, entry]


def _fold_recorded(event: Event, body: dict[str, Any]) -> list[Change]:
    if body.get("amends"):
        return [AmendFold(body["number"], body["known"])]
    place = _place(event) | body.get("of", {})  # told anew without what was forgotten, it keeps its place
    summary = body["summary"] or {"sha256": None, "indexed_bytes": 0}
    entry = PutEntry(
        event.seq,
        f"F{body['number']}",
        "folds",
        event.session,
        body.get("at") or place["at"],
        f"{body['trigger']} compaction",
        sha256=summary["sha256"],
        indexed_bytes=summary["indexed_bytes"],
    )
    return [PutRow("fold", place | {"body": body}), entry]


def _entry_forgotten(event: Event, body: dict[str, Any]) -> list[Change]:
    """Keep the numbers of what is gone, and the clients' ids of messages, so that no import brings them back."""
    gone = [{"letter": letter, "number": number, "at": event.at} for letter, number in body["gone"]]
    ids = [{"session": session, "external_id": name, "seq": seq} for session, name, seq in body["ids"]]
    return [*(PutRow("forgotten", row) for row in gone), *(PutRow("external", row) for row in ids)]


def _search_missed(event: Event, body: dict[str, Any]) -> PutRow:
    row = {"seq": event.seq, "at": event.at, "session": event.session}
    return PutRow("miss", row | {name: body[name] for name in ("search", "query", "hits", "why")})
