"""How a message enters the log of a store: with what is long behind a pointer, and without known secrets.

The two mildest strategies work here: what a tool's cap cuts off is not kept, what is over the spill threshold becomes
an artifact, in the same transaction as its message. Source: design 4 (strategies 1 and 2), P24.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from pinfold.context.drafting import draft
from pinfold.context.pin_lines import pin_text
from pinfold.context.projection.history import Message, Role
from pinfold.context.projection.policy import Policy
from pinfold.context.projection.shortening import preview, within_cap
from pinfold.context.specifics import specifics
from pinfold.context.tokens import count
from pinfold.context.visible import legible, shorten, visible
from pinfold.store import commands
from pinfold.store.commands import PinDecision, SpillArtifact
from pinfold.store.errors import InvalidInputError, TooLargeError
from pinfold.store.redaction import Redactor
from pinfold.store.values import MAX_ARTIFACT_BYTES, MAX_PIN_CHARS, MAX_WHY_CHARS, Caller

_LABEL_CHARS = 120
_SOURCE = "harness"
_ROLES_ARE = f"The roles are {', '.join(get_args(Role))}."


@dataclass(frozen=True, slots=True)
class Entrance:
    """Makes entries of a conversation's messages; whoever stores them then closes their artifacts."""

    caller: Caller
    redactor: Redactor
    policy: Policy

    def entries(self, messages: Sequence[Message], key: str | None) -> list[commands.Message]:
        """Return what is appended for messages: one entry each, of a call with words two, of several calls more.

        With `key` they are appended once. Counts tokens, so it belongs on a worker thread. Raises `TooLargeError`,
        and `InvalidInputError` for a result that answers no call, a role that there is not, an empty pin.
        """
        found: list[commands.Message] = []
        try:
            for message in messages:
                found.extend(self._entries(message))
        except BaseException:
            let_go(found)
            raise
        return [replace(entry, external_id=key and f"{key}:{place}") for place, entry in enumerate(found)]

    def summary(self, text: str) -> SpillArtifact:
        """Return a fold's summary on its way to be kept."""
        return self._artifact(text, "summary")

    def pin(self, text: str, why: str, supersedes: tuple[int, ...] = ()) -> PinDecision:
        """Return the pin of a text. Raises `TooLargeError`, and `InvalidInputError` for none."""
        text, why = self._clean(text), self._clean(why)
        if not text.strip():
            raise InvalidInputError("A pin needs a text.", "Say what is to be kept.")
        for what, given, limit in (("A pin", text, MAX_PIN_CHARS), ("Its reason", why, MAX_WHY_CHARS)):
            if len(given) > limit:
                hint = "Pin the decision itself; a message can hold the rest."
                raise TooLargeError(what, len(given), limit, unit="characters", hint=hint)
        found = specifics(f"{text}\n{why}")
        tokens = count(pin_text(text, why))
        return PinDecision(self.caller, text, why, supersedes=supersedes, specifics=found, tokens=tokens)

    def _entries(self, message: Message) -> Iterator[commands.Message]:
        clean = self._cleaned(message)
        if clean.role not in get_args(Role):
            raise InvalidInputError(
                f"A message has no role “{shorten(visible(clean.role), 20)}”.", _ROLES_ARE
            )
        if clean.role == "tool":
            yield self._result(clean)
            return
        if clean.text or not clean.calls:
            pins = (self.pin(clean.text, ""),) if clean.pinned else ()
            yield replace(self._entry(clean, clean.role, clean.text), pins=pins)
        for place, call in enumerate(clean.calls):
            asked = self._entry(clean, "tool_call", "" if place else clean.inputs)
            yield replace(asked, tool=clean.tool or None, call_id=call)

    def _result(self, message: Message) -> commands.Message:
        """Return a result as it enters: cut, put behind a pointer, or whole."""
        if not message.answers:
            raise InvalidInputError(
                "A tool's result answers no call.",
                "Give the id of its call as `answers`: no request holds it else.",
            )
        tokens = self.policy.size(message.text)
        capped = None if message.pinned else within_cap(message, tokens, self.policy)
        artifacts: tuple[SpillArtifact, ...] = ()
        if capped is not None:
            entry = self._entry(message, "tool_result", capped)
        elif tokens > self.policy.spill and not message.pinned:
            entry = self._entry(message, "tool_result", preview(replace(message, pointer=""), tokens))
            artifacts = (self._artifact(message.text, f"{message.tool} {message.subject}"),)
        else:
            entry = self._entry(message, "tool_result", message.text, tokens)
        return replace(
            entry,
            tool=message.tool or None,
            call_id=message.answers,
            files=(message.subject,) if message.subject else (),
            artifacts=artifacts,
        )

    def _entry(self, message: Message, role: str, text: str, tokens: int | None = None) -> commands.Message:
        agent = f"{self.caller.conversation}/{message.agent}" if message.agent else None
        is_exact = self.policy.size is count
        size = self.policy.size(text) if tokens is None else tokens
        return commands.Message(role, text, tokens=size, tokens_estimated=not is_exact, conversation=agent)

    def _artifact(self, text: str, label: str) -> SpillArtifact:
        made = draft(self.redactor, [text.encode()], MAX_ARTIFACT_BYTES)
        named = shorten(" ".join(label.split()) or "result", _LABEL_CHARS)
        return SpillArtifact(self.caller, made.content, made.outline, named, _SOURCE, aside=True)

    def _cleaned(self, message: Message) -> Message:
        return replace(
            message,
            text=self._clean(message.text),
            inputs=self._clean(message.inputs),
            calls=tuple(map(legible, message.calls)),
            answers=legible(message.answers),
            tool=legible(message.tool),
            subject=legible(message.subject),
            agent=legible(message.agent),
        )

    def _clean(self, text: str) -> str:
        """Half of a secret would not be known for one, so they are replaced before anything is cut."""
        return self.redactor.text(legible(text)).text


def let_go(entries: Sequence[commands.Message]) -> None:
    """Close what entries bring along."""
    for artifact in (each for entry in entries for each in entry.artifacts):
        artifact.content.close()
