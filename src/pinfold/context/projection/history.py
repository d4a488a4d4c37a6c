"""What a request is projected from: the messages of a conversation, and what was decided about them, in log order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `number` is its place in the log, greater than that of each message before it.

    An assistant's `calls` are the ids of the tool calls in it, `inputs` what they ask for, as it is sent; a tool's
    result `answers` one of them. `subject` is what a result shows (a path, a query): a newer result of the same tool
    and subject replaces it. All of a shortened text can be fetched at `pointer`. `agent` names the sub-agent whose
    exploration it is, empty in the main conversation.
    """

    number: int
    role: Role
    text: str
    calls: tuple[str, ...] = ()
    answers: str = ""
    tool: str = ""
    subject: str = ""
    pointer: str = ""
    pinned: bool = False
    agent: str = ""
    inputs: str = ""


@dataclass(frozen=True, slots=True)
class Shortened:
    """From here on `text` stands for the text of a message. `way` is truncated, externalized or reclaimed.

    `why` says of a reclaimed one what made it stale.
    """

    message: int
    text: str
    way: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Hidden:
    """From here on these messages are not sent. Nothing is deleted."""

    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Superseded:
    """From here on a pin no longer holds, and is not sent."""

    message: int


@dataclass(frozen=True, slots=True)
class Folded:
    """From here on one system message, `text`, stands for these messages, where the first of them stood."""

    number: int
    messages: tuple[int, ...]
    text: str


Decision = Shortened | Hidden | Folded
Step = Message | Decision | Superseded
