"""What a scripted model says, and what it was told back: the same for every wire format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Event = tuple[str, Json]
"""Name and body of one server-sent event."""


@dataclass(frozen=True, slots=True)
class Say:
    """Plain text, which ends the agent's turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, named without the prefix that the client gives it."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)


Turn = Say | Call


@dataclass(frozen=True, slots=True)
class Result:
    """One tool result as the model read it, in the channels that its client hands over.

    `failed` is None where the wire format has no mark for it.
    """

    tool: str
    text: str | None
    structured: Json | None
    failed: bool | None

    def shows(self, text: str) -> bool:
        """Say whether `text` stands, byte for byte, in every channel that the model reads."""
        in_text = self.text is None or text in self.text
        return in_text and (
            self.structured is None or any(text in string for string in _strings(self.structured))
        )


def one_channel(tool: str, read: str, failed: bool | None) -> Result:
    """Return the result where one channel is handed over: structured content as JSON, or the text."""
    try:
        value = json.loads(read)
    except ValueError:
        value = None
    return Result(tool, None, value, failed) if isinstance(value, dict) else Result(tool, read, None, failed)


def joined_text(content: object) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part["text"]) for part in content if "text" in part)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
