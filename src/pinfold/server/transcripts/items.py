"""What a transcript says, whichever client wrote it: messages and compactions, in order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Picture:
    """An image (or a document such as a PDF) of a message, as base64: kept as an artifact, not as text."""

    media_type: str
    base64: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message, tool call or tool result.

    `external_id` is the client's own id of it and the same at every reading; `role`, `call_id` and `at` are those of
    `store.commands.Message`. `ran` is what the call of a result was, as far as it is known. `text` may be empty where
    there are pictures. `agent` is the id of the sub-agent that spoke, if one did; its words stay out of the log.
    `conversation` is whose it is, where one file holds several. `request` is the client's id of the request to the
    model that it was the answer to, where the client tells.
    """

    external_id: str
    role: str
    text: str
    at: str | None = None
    tool: str | None = None
    call_id: str | None = None
    ran: str = ""
    files: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    agent: str | None = None
    conversation: str | None = None
    request: str | None = None


def answer_id(agent: str, text: str) -> str:
    """Return the external id of what a sub-agent came to, which makes it one message, whoever tells of it first."""
    return f"agent:{agent}:{hashlib.sha256(text.strip().encode('utf-8', 'replace')).hexdigest()[:16]}"


def agent_of(external_id: str) -> str | None:
    """Return whose answer a message with such an id is, None for any other message."""
    first, _, rest = external_id.partition(":")
    return rest.rpartition(":")[0] if first == "agent" else None


def trigger_of(value: object) -> str:
    """Return what set off a compaction: auto or manual, unknown for whatever else a client says."""
    return str(value) if value in ("auto", "manual") else "unknown"


@dataclass(frozen=True, slots=True)
class Compacted:
    """One compaction. `tokens_before` and `tokens_after` are the client's own figures, where it gives them.

    `trigger` is auto, manual, or unknown where the transcript does not tell. `summary` is what the model goes on
    with, empty where the client keeps it to itself.
    """

    external_id: str
    trigger: str
    summary: str
    at: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


Item = Spoken | Compacted


@dataclass(frozen=True, slots=True)
class Heading:
    """What a transcript's beginning says of itself; None where it does not say.

    `conversation` is the client's session id, `cwd` the folder it was started in. `parent` is the conversation that
    it was forked from, or for a sub-agent's transcript (`agent` is its id, `call_id` the call that began it) the
    one that it worked for.
    """

    conversation: str | None = None
    cwd: str | None = None
    parent: str | None = None
    agent: str | None = None
    call_id: str | None = None


class Format(Protocol):
    """How one client writes a transcript. An instance reads one file, line by line, from its beginning or from a
    place where `is_open` was False.
    """

    client: str
    unknown: int
    """Lines that were skipped because nothing is known of them; bookkeeping lines are not counted."""
    looks_back_bytes: int
    """How much of what was read before it has to see again where a reading is taken up."""

    def items(self, line: bytes) -> list[Item]:
        """Return what one line says, in order; nothing for a line that says nothing or cannot be read."""

    @property
    def is_open(self) -> bool:
        """Whether a line waits for a later one (a call for its result, a compaction for its summary), so that
        reading must not be taken up behind it.
        """
