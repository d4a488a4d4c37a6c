"""Sub-agents: what one came to is part of its parent's history; how it got there is kept aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.server.transcripts.items import Spoken, answer_id
from pinfold.server.transcripts.keeping import Keeper, let_go
from pinfold.server.transcripts.lines import opened
from pinfold.store.commands import Message, TranscriptMark
from pinfold.store.errors import TooLargeError
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

_BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """A sub-agent's final answer; `kind` is its type, `transcript` where its own conversation lies."""

    agent: str
    kind: str
    text: str
    transcript: Path | None = None
    at: str | None = None
    call_id: str | None = None


def keep_answer(store: SyncStore, caller: Caller, answer: Answer, mark: TranscriptMark | None = None) -> bool:
    """Append the answer to its parent's history with its transcript beside it; return whether it was new."""
    keeper = Keeper(caller, store.redactor)
    said = Spoken(
        answer_id(answer.agent, answer.text),
        "assistant",
        answer.text,
        answer.at,
        tool=f"sub-agent {answer.kind}".strip(),
        call_id=answer.call_id,
    )
    name = f"{answer.kind} {answer.agent}".strip()
    message = with_transcript(keeper.message(said), keeper, name, answer.transcript)
    try:
        return store.append_messages(caller, [message], mark).appended > 0
    finally:
        let_go([message])


def with_transcript(message: Message, keeper: Keeper, name: str, transcript: Path | None) -> Message:
    """Return the answer of a sub-agent with its transcript beside it, unless that cannot be kept."""
    if transcript is None:
        return message
    try:
        label = f"transcript of sub-agent {name}"
        kept = keeper.artifact(_blocks(transcript), label, "sub-agent")
    except (OSError, TooLargeError):
        return message
    return replace(message, artifacts=(*message.artifacts, kept))


def _blocks(path: Path) -> Iterator[bytes]:
    with opened(path) as file:
        while block := file.read(_BLOCK_BYTES):
            yield block
