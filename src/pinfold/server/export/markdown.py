"""A project's memory as Markdown for people: the pins, then each conversation in order.

What is stored stands in fences and code spans that it cannot end, with what hides made visible. Source: P23.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pinfold.context.visible import counted, size_text, visible
from pinfold.server.commands.asking import everything
from pinfold.server.commands.listings import when
from pinfold.server.export.source import Source
from pinfold.store.events import Body, Kind
from pinfold.store.logged import LoggedEvent
from pinfold.store.results import Pin
from pinfold.store.values import PinKind, Receipt

_BACKTICKS = re.compile("`+")
_LISTS = (
    ("done", "Done"),
    ("pending", "Pending"),
    ("facts", "Facts"),
    ("constraints", "Constraints"),
    ("files", "Files"),
)


@dataclass(frozen=True, slots=True)
class _Session:
    number: int
    begun: LoggedEvent


async def markdown(source: Source) -> AsyncIterator[str]:
    """Yield the pieces in order; a conversation is read when it is its turn."""
    yield f"# {code(source.store.project)}: what pinfold keeps\n\n"
    yield f"{counted(source.end.seq, 'event')}, the newest {Receipt.of(source.end.seq, source.end.digest)}.\n"
    for part in _pins(await _exported_pins(source)):
        yield part
    async for session in _sessions(source):
        yield _session_heading(session)
        async for event in source.log(session.number):
            yield _event(event, source)
            source.tell(event)


async def _exported_pins(source: Source) -> list[Pin]:
    found = await everything(source.store.pins, lambda pin: pin.number)
    return [
        pin for pin in reversed(found) if source.session in (None, pin.session) and pin.seq <= source.end.seq
    ]


async def _sessions(source: Source) -> AsyncIterator[_Session]:
    known: list[_Session] = []
    async for event in source.log():
        if event.kind == Kind.SESSION_STARTED:
            known.append(_Session(event.session, event))
    for session in known:
        yield session


def _pins(pins: list[Pin]) -> Iterator[str]:
    live = [pin for pin in pins if pin.superseded_by is None]
    yield from _pin_list("Pins", [pin for pin in live if pin.kind is not PinKind.DEAD_END])
    yield from _pin_list("Dead ends", [pin for pin in live if pin.kind is PinKind.DEAD_END])
    yield from _pin_list("Superseded pins", [pin for pin in pins if pin.superseded_by is not None])


def _pin_list(title: str, pins: list[Pin]) -> Iterator[str]:
    if pins:
        yield f"\n## {title}\n"
    for pin in pins:
        by = f", superseded by P{pin.superseded_by}" if pin.superseded_by else ""
        scope = ", for this session only" if pin.session_only else ""
        files = f", files {', '.join(map(code, pin.files))}" if pin.files else ""
        why = f"\nBecause:\n\n{fenced(pin.why)}" if pin.why else ""
        kind = pin.kind.value.replace("_", " ")
        yield (
            f"\n### {pin.pointer}: {kind}\n\n{when(pin.at)} UTC, s{pin.session}{scope}{by}{files}\n\n"
            f"{fenced(pin.text)}{why}"
        )


def _session_heading(session: _Session) -> str:
    body = _body(session.begun) or {}
    whose = f"{code(body['client'])}, conversation {code(body['conversation'])}" if body else "unknown"
    return f"\n## Session s{session.number}\n\n{whose}, begun {when(session.begun.at)} UTC\n"


def _event(event: LoggedEvent, source: Source) -> str:
    """Return what an event says to a person; nothing of those that say nothing by themselves."""
    if event.body is None:
        return f"\n### Event {event.seq}: forgotten\n"
    body = _body(event)
    if body is None:
        source.damaged.append(f"event {event.seq}")
        return f"\n### Event {event.seq}: damaged\n\n{fenced(event.body)}"
    told = _TELLING.get(event.kind)
    return told(event, body) if told else ""


def _body(event: LoggedEvent) -> Body | None:
    try:
        body = json.loads(event.body or "")
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _message(event: LoggedEvent, body: Body) -> str:
    tool = f" {code(body['tool'])}" if body.get("tool") else ""
    whose = body["role"].replace("_", " ") + tool
    return f"\n### H{event.seq}: {whose}\n\n{when(body.get('at', event.at))} UTC\n\n{fenced(body['text'])}"


def _artifact(event: LoggedEvent, body: Body) -> str:
    name = body["label"] or body["source"] or body["path"] or ""
    size = f"{size_text(body['size_bytes'])}, {counted(body['lines'], 'line')}"
    return f"\n### A{body['number']}: artifact\n\n{when(event.at)} UTC, {code(name)}, {size}\n"


def _checkpoint(event: LoggedEvent, body: Body) -> str:
    lists = "".join(_list(title, body[name]) for name, title in _LISTS)
    next_step = f"\nNext step:\n\n{fenced(body['next_step'])}" if body["next_step"] else ""
    return f"\n### C{body['number']}: checkpoint\n\n{when(event.at)} UTC\n\n{fenced(body['goal'])}{lists}{next_step}"


def _list(title: str, items: list[str]) -> str:
    return f"\n{title}:\n\n" + "".join(f"- {code(item)}\n" for item in items) if items else ""


def _fold(event: LoggedEvent, body: Body) -> str:
    if body.get("amends"):
        return ""
    lost = [part for parts in body["lost"].values() for part in parts]
    losses = _list("Specifics of pins that its summary lost", lost)
    return f"\n### F{body['number']}: {code(body['trigger'])} compaction\n\n{when(event.at)} UTC\n{losses}"


def _projection(event: LoggedEvent, body: Body) -> str:
    reclaimed = [seq for seq, _ in body["reclaimed"]]
    hidden = _list("Not sent any more", [f"H{seq}" for seq in body["hidden"]])
    shortened = _list("Sent as one line", [f"H{seq}" for seq in reclaimed])
    return f"\n### Event {event.seq}: what requests leave out\n\n{when(event.at)} UTC\n{hidden}{shortened}"


_TELLING: dict[str, Callable[[LoggedEvent, Any], str]] = {
    Kind.MESSAGE_APPENDED: _message,
    Kind.ARTIFACT_SPILLED: _artifact,
    Kind.STATE_CHECKPOINTED: _checkpoint,
    Kind.FOLD_RECORDED: _fold,
    Kind.PROJECTION_COMMITTED: _projection,
}
"""Pins and what supersedes them stand at the beginning."""


def fenced(text: str) -> str:
    """Return a text in a fence that no run of backticks in it can end."""
    shown = visible(text).removesuffix("\n")
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown}\n{fence}\n"


def code(text: str) -> str:
    """Return a short text in one line, in a code span that it cannot end."""
    shown = " ".join(visible(text).split())
    span = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{span}{pad}{shown}{pad}{span}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
