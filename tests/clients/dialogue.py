"""What a scripted model says, and what it was told back: the same for every wire format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
Event = tuple[str, Json]
"""Name and body of one server-sent event."""

NOTHING = "nothing"
LITTLE, FULL = 1_000, 120_000
"""Tokens that a reply reports as read: nearly nothing, and more than the window that the clients are given."""


@dataclass(frozen=True, slots=True)
class Say:
    """Plain text, which ends the agent's turn."""

    text: str
    read: int = LITTLE


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, named without the prefix that the client gives it; `note` is said before it."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    read: int = LITTLE


@dataclass(frozen=True, slots=True)
class Shell:
    """One command for the client's own shell tool; `note` is said before it."""

    command: str
    note: str = ""
    read: int = LITTLE


Turn = Say | Call | Shell


@dataclass(frozen=True, slots=True)
class Found:
    """As an argument: the group of this pattern's last match in all that the model was sent, else `NOTHING`."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Result:
    """One tool result as the model read it, in the channels that its client hands over.

    `call` is the id of the call. `failed` is None where the wire format has no mark for it.
    """

    call: str
    tool: str
    text: str | None
    structured: Json | None
    failed: bool | None

    def shows(self, text: str) -> bool:
        """Say whether `text` stands, byte for byte, in every channel that the model reads."""
        in_text = self.text is None or text in self.text
        return in_text and (
            self.structured is None or any(text in string for string in strings(self.structured))
        )


def one_channel(call: str, tool: str, read: str, failed: bool | None) -> Result:
    """Return the result where one channel is handed over: structured content as JSON, or the text."""
    try:
        value = json.loads(read)
    except ValueError:
        value = None
    text, structured = (None, value) if isinstance(value, dict) else (read, None)
    return Result(call, tool, text, structured, failed)


def joined_text(content: object) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part["text"]) for part in content if "text" in part)


def strings(value: object) -> Iterator[str]:
    """Yield every string inside a JSON value, in order, names of members left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        yield from strings(list(value.values()))


def sent(request: Json) -> str:
    """Return all text of the conversation that a request carries, tool calls and results included."""
    return "\n".join(strings(request.get("messages") or request["input"]))


def filled(turn: Turn, request: Json) -> Turn:
    """Return the turn with everything that it quotes from the request."""
    if not isinstance(turn, Call):
        return turn
    return replace(turn, arguments={name: _quoted(value, request) for name, value in turn.arguments.items()})


def _quoted(value: object, request: Json) -> object:
    if isinstance(value, list):
        return [_quoted(item, request) for item in value]
    if not isinstance(value, Found):
        return value
    matches = re.findall(value.pattern, sent(request))
    return matches[-1] if matches else NOTHING
