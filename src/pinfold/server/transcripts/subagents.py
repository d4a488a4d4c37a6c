"""Sub-agents: what one came to is part of its parent's history; how it got there is kept aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.context.visible import shorten
from pinfold.server.transcripts.items import Spoken, answer_id
from pinfold.server.transcripts.keeping import Keeper, let_go
from pinfold.server.transcripts.lines import opened
from pinfold.store.commands import SpillArtifact, TranscriptMark
from pinfold.store.errors import TooLargeError
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

_BLOCK_BYTES = 1024 * 1024
_LABEL_CHARS = 100


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
    message = keeper.message(
        Spoken(
            answer_id(answer.agent, answer.text),
            "assistant",
            answer.text,
            answer.at,
            tool=f"sub-agent {answer.kind}",
            call_id=answer.call_id,
        )
    )
    kept = _transcript(keeper, answer)
    message = replace(message, artifacts=(*message.artifacts, *kept))
    try:
        return store.append_messages(caller, [message], mark).appended > 0
    finally:
        let_go([message])


def _transcript(keeper: Keeper, answer: Answer) -> tuple[SpillArtifact, ...]:
    """Return the transcript on its way to be kept, unless it cannot be."""
    if answer.transcript is None:
        return ()
    try:
        label = f"transcript of sub-agent {shorten(f'{answer.kind} {answer.agent}', _LABEL_CHARS)}"
        return (keeper.artifact(_blocks(answer.transcript), label, "sub-agent"),)
    except (OSError, TooLargeError):
        return ()


def _blocks(path: Path) -> Iterator[bytes]:
    with opened(path) as file:
        while block := file.read(_BLOCK_BYTES):
            yield block
