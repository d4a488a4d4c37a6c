"""What an event changes in the views: a pure function, the same when live and when rebuilt.

`changes(event)` reads nothing but the event; the backend turns each `Change` into its own statements.
Views never refuse: an event in the log is a fact. Source: design 1, How data flows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pinfold.store.events import Body, Event, Kind

HIDDEN = "hidden"
"""How a message is left out that is not sent at all."""


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
    """One searchable piece: `text`, and of the content `sha256` as much as `indexed_bytes` says.

    That is all of it, its beginning and its end, or with 0 nothing.
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


@dataclass(frozen=True, slots=True)
class Omit:
    """From `seq` on, requests of a session leave out a message or show it as one line; `how` says which."""

    session: int
    message: int
    seq: int
    how: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the miss of seq `miss` was after is `pointer`, found in the way `how`; None: it is not known after all.

    `search` is the number of the later search that showed it, if one did.
    """

    miss: int
    seq: int
    pointer: str | None
    how: str
    search: int | None


@dataclass(frozen=True, slots=True)
class Unanswer:
    """These entries are gone, and answer nothing any more."""

    pointers: tuple[str, ...]


Change = AmendFold | Answer | PutRow | MarkSuperseded | ContinueConversation | Omit | PutEntry | Unanswer


def changes(event: Event) -> list[Change]:
    """Return what an event does to the views, in order. A forgotten event changes nothing."""
    if event.body is None:
        return []
    return _CHANGES[event.kind](event, event.body)


def _place(event: Event) -> dict[str, Any]:
    assert event.body is not None
    return {"number": event.body["number"], "seq": event.seq, "at": event.at, "session": event.session}


def _session_started(event: Event, body: Body) -> list[Change]:
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


def _decision_pinned(event: Event, body: Body) -> list[Change]:
    names = ("kind", "text", "why", "session_only", "files", "specifics", "tokens", "supersedes")
    row = _place(event) | {"actor": event.actor} | {name: body[name] for name in names}
    row["at"] = body.get("said_at", event.at)
    kind = "dead_ends" if body["kind"] == "dead_end" else "pins"
    text = f"{body['text']}\n{body['why']}"
    entry = PutEntry(
        event.seq, f"P{body['number']}", kind, event.session, row["at"], text, paths=tuple(body["files"])
    )
    return [PutRow("pin", row), entry]


def _decision_superseded(event: Event, body: Body) -> list[Change]:
    return [MarkSuperseded(body["number"], body["by"], event.seq)]


def _artifact_spilled(event: Event, body: Body) -> list[Change]:
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


def _state_checkpointed(event: Event, body: Body) -> list[Change]:
    state = {name: body[name] for name in STATE_FIELDS}
    row = _place(event) | {name: body[name] for name in ("head", "branch", "tokens")} | {"state": state}
    text = checkpoint_text(state)
    pointer = f"C{body['number']}"
    entry = PutEntry(
        event.seq, pointer, "checkpoints", event.session, event.at, text, paths=tuple(body["files"])
    )
    return [PutRow("checkpoint", row), entry]


def _message_appended(event: Event, body: Body) -> list[Change]:
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


def _fold_recorded(event: Event, body: Body) -> list[Change]:
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


def _entry_forgotten(event: Event, body: Body) -> list[Change]:
    """Keep the numbers of what is gone, and the clients' ids of messages, so that no import brings them back."""
    gone = [{"letter": letter, "number": number, "at": event.at} for letter, number in body["gone"]]
    ids = [{"session": session, "external_id": name, "seq": seq} for session, name, seq in body["ids"]]
    unanswer = Unanswer(tuple(f"{row['letter']}{row['number']}" for row in gone))
    return [*(PutRow("forgotten", row) for row in gone), *(PutRow("external", row) for row in ids), unanswer]


def _search_missed(event: Event, body: Body) -> list[Change]:
    row = {"seq": event.seq, "at": event.at, "session": event.session}
    return [PutRow("miss", row | {name: body[name] for name in ("search", "query", "hits", "why")})]


def _search_answered(event: Event, body: Body) -> list[Change]:
    return [Answer(body["miss"], event.seq, body["pointer"], body["how"], body["search"])]


def _projection_committed(event: Event, body: Body) -> list[Change]:
    found = [*((seq, HIDDEN) for seq in body["hidden"]), *body["reclaimed"]]
    return [Omit(event.session, seq, event.seq, how) for seq, how in found]


_CHANGES: dict[Kind, Callable[[Event, Body], list[Change]]] = {
    Kind.SESSION_STARTED: _session_started,
    Kind.DECISION_PINNED: _decision_pinned,
    Kind.DECISION_SUPERSEDED: _decision_superseded,
    Kind.ARTIFACT_SPILLED: _artifact_spilled,
    Kind.STATE_CHECKPOINTED: _state_checkpointed,
    Kind.MESSAGE_APPENDED: _message_appended,
    Kind.FOLD_RECORDED: _fold_recorded,
    Kind.SEARCH_MISSED: _search_missed,
    Kind.SEARCH_ANSWERED: _search_answered,
    Kind.ENTRY_FORGOTTEN: _entry_forgotten,
    Kind.PROJECTION_COMMITTED: _projection_committed,
}
