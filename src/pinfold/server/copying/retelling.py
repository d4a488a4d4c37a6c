"""What stands in an event of one log, as what a caller would say to another store. Pure, but for the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pinfold.server.copying.heard import NUMBERED
from pinfold.store.commands import CheckpointState, Message, Outline, PinDecision, RecordFold, SpillArtifact
from pinfold.store.content import Content
from pinfold.store.events import Body, Kind
from pinfold.store.logged import LoggedEvent
from pinfold.store.values import Actor, Caller, PinKind
from pinfold.store.views import STATE_FIELDS

Mapped = Callable[[str], str | None]
"""Returns the pointer that a pointer of the source has in the destination, None where it has none."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the source with its body, whose session was that of `conversation` of `client`, under a `name`."""

    event: LoggedEvent
    body: Body
    client: str
    conversation: str
    name: str

    @property
    def pointer(self) -> str:
        """Its pointer in the source, of a session as `s3`; empty for what has none."""
        if self.event.kind == Kind.MESSAGE_APPENDED:
            return f"H{self.event.seq}"
        letter = NUMBERED.get(self.event.kind)
        return f"{letter}{self.body['number']}" if letter else ""

    @property
    def caller(self) -> Caller:
        """Who it was."""
        return Caller(self.client, self.conversation, cast(Actor, self.event.actor))

    @property
    def caller_there(self) -> Caller:
        """Who it was, and where the repository stood."""
        return replace(self.caller, head=self.body["head"], branch=self.body["branch"])


def pin_of(told: Told, supersedes: tuple[int, ...]) -> PinDecision:
    """Return the pin; what it supersedes goes by the destination's numbers."""
    body = told.body
    return PinDecision(
        told.caller,
        body["text"],
        body["why"],
        PinKind(body["kind"]),
        supersedes,
        body["session_only"],
        tuple(body["files"]),
        tuple(body["specifics"]),
        body["tokens"],
        told.name,
        body.get("said_at", told.event.at),
    )


def artifact_of(told: Told, content: Content) -> SpillArtifact:
    """Return the artifact with its bytes."""
    body = told.body
    outline = Outline(**{**body["outline"], "first_errors": tuple(body["outline"]["first_errors"])})
    names = {name: body[name] for name in ("label", "source", "path")}
    return SpillArtifact(
        told.caller, content, outline, **names, key=told.name, aside=body.get("aside", False)
    )


def checkpoint_of(told: Told, fork_of: int | None) -> CheckpointState:
    """Return the state; `fork_of` goes by the destination's numbers."""
    state = {name: _frozen(told.body[name]) for name in STATE_FIELDS}
    return CheckpointState(
        told.caller_there, **state, fork_of=fork_of, tokens=told.body["tokens"], key=told.name
    )


def message_of(told: Told, brought: Iterable[tuple[str, SpillArtifact]]) -> Message:
    """Return the message with the artifacts that it brought; the lines that named them are for the store to write."""
    body = told.body
    pairs = tuple(brought)
    return Message(
        body["role"],
        _without_lines(body["text"], [f"[{pointer} {artifact.label}]" for pointer, artifact in pairs]),
        body.get("external_id") or told.name,
        body.get("at", told.event.at),
        body.get("tool"),
        body.get("call_id"),
        tuple(body.get("files", ())),
        body.get("tokens", 0),
        not body.get("exact", False),
        tuple(artifact for _, artifact in pairs),
    )


def fold_of(told: Told, key: str, mapped: Mapped, summary: SpillArtifact | None) -> RecordFold:
    """Return the fold with its audit; what has no pointer in the destination is left out of it."""
    body = told.body
    return RecordFold(
        told.caller,
        key,
        body["trigger"],
        body.get("live", False),
        body["at"] or body.get("of", {}).get("at", told.event.at),
        body["tokens_before"],
        body["tokens_after"],
        body["messages"],
        summary,
        dict(_by_pins(mapped, body["present"])),
        {to: tuple(parts) for to, parts in _by_pins(mapped, body["lost"])},
        tuple((to, sentence) for pointer, sentence in body["offered"] if (to := mapped(pointer))),
        tuple((text, to) for text, pointer in body["strings"] if (to := mapped(pointer))),
        tuple(int(to[1:]) for seq in body.get("folded", ()) if (to := mapped(f"H{seq}"))),
    )


def amended_fold_of(told: Told, key: str, summary: SpillArtifact | None) -> RecordFold:
    """Return what the client's transcript said of a fold of which a hook had told."""
    known = told.body["known"]
    figures = {name: known.get(name) for name in ("tokens_before", "tokens_after")}
    return RecordFold(told.caller, key, known["trigger"], summary=summary, **figures)


def _by_pins(mapped: Mapped, found: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """Yield what was found of each pin, by its number in the destination."""
    for number, what in found.items():
        pointer = mapped(f"P{number}")
        if pointer:
            yield int(pointer[1:]), what


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _without_lines(text: str, lines: list[str]) -> str:
    """Return a text without the lines at its end that pinfold put there."""
    for line in reversed(lines):
        text = "" if text == line else text.removesuffix(f"\n{line}")
    return text
