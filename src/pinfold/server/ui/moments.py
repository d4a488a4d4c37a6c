"""What the events of a session say to a person, a line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pinfold.context.visible import counted, size_text
from pinfold.store.events import Body, Kind, digest_of
from pinfold.store.logged import LoggedEvent


@dataclass(frozen=True, slots=True)
class Moment:
    """One event: where it leads ("" for nowhere), what it is, its text, its tokens (0: not counted).

    `to` is a pointer to what its text is about.
    """

    pointer: str
    seq: int
    at: str
    what: str
    text: str
    tool: str = ""
    tokens: int = 0
    to: str = ""


def moments(events: Iterable[LoggedEvent]) -> list[Moment]:
    """Return what can be told of events, in their order; those that say nothing by themselves are left out."""
    return [moment for event in events if (moment := _moment(event))]


def _moment(event: LoggedEvent) -> Moment | None:
    if event.body is None:
        return Moment("", event.seq, event.at, "forgotten", "")
    damaged = Moment("", event.seq, event.at, "damaged", "pinfold verify tells more.")
    if digest_of(event.body) != event.body_digest:
        return damaged
    told = _TELLING.get(event.kind)
    try:
        return told(event, json.loads(event.body)) if told else None
    except (ValueError, LookupError, TypeError, AttributeError):  # a newer pinfold's, perhaps
        return damaged


def _began(event: LoggedEvent, body: Body) -> Moment:
    if not event.parent:
        return Moment("", event.seq, event.at, "session began", body["client"])
    if not body["origin"]:
        where = f"{body['client']}, from event {event.parent}"
        return Moment("", event.seq, event.at, "fork began", where)
    return Moment("", event.seq, event.at, "fork began", f"{body['client']}, from", to=f"C{body['origin']}")


def _message(event: LoggedEvent, body: Body) -> Moment:
    what = body["role"].replace("_", " ")
    tool, tokens = body.get("tool") or "", body.get("tokens", 0)
    return Moment(f"H{event.seq}", event.seq, body.get("at", event.at), what, body["text"], tool, tokens)


def _pin(event: LoggedEvent, body: Body) -> Moment:
    what = body["kind"].replace("_", " ")
    return Moment(f"P{body['number']}", event.seq, event.at, what, body["text"])


def _superseded(event: LoggedEvent, body: Body) -> Moment:
    return Moment(f"P{body['number']}", event.seq, event.at, "superseded", "by", to=f"P{body['by']}")


def _artifact(event: LoggedEvent, body: Body) -> Moment:
    name = body["label"] or body["source"] or body["path"] or ""
    size = size_text(body["size_bytes"])
    return Moment(f"A{body['number']}", event.seq, event.at, "artifact", f"{name} ({size})")


def _checkpoint(event: LoggedEvent, body: Body) -> Moment:
    return Moment(f"C{body['number']}", event.seq, event.at, "checkpoint", body["goal"])


def _fold(event: LoggedEvent, body: Body) -> Moment | None:
    if body.get("amends"):
        return None
    lost = sum(map(len, body["lost"].values()))
    said = f"{body['trigger']} compaction, {lost} pinned specifics lost"
    return Moment(f"F{body['number']}", event.seq, event.at, "fold", said)


def _projected(event: LoggedEvent, body: Body) -> Moment:
    said = f"{counted(len(body['hidden']), 'message')} left out, {len(body['reclaimed'])} shown as one line"
    return Moment("", event.seq, event.at, "request", said)


def _miss(event: LoggedEvent, body: Body) -> Moment:
    pointer = f"S{body['search']}" if body["search"] else ""
    return Moment(pointer, event.seq, event.at, "miss", body["query"])


_TELLING: dict[str, Callable[[LoggedEvent, Body], Moment | None]] = {
    Kind.SESSION_STARTED: _began,
    Kind.MESSAGE_APPENDED: _message,
    Kind.DECISION_PINNED: _pin,
    Kind.DECISION_SUPERSEDED: _superseded,
    Kind.ARTIFACT_SPILLED: _artifact,
    Kind.STATE_CHECKPOINTED: _checkpoint,
    Kind.FOLD_RECORDED: _fold,
    Kind.SEARCH_MISSED: _miss,
    Kind.PROJECTION_COMMITTED: _projected,
}
