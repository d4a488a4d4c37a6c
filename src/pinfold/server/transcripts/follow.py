"""Reading a transcript into the log: from where the last reading stopped, each message once, folds in their place.

A batch of messages, the pins in them and how far they reach are one transaction, so a reading that is killed goes on
where the log ends. Whoever reads the same file at the same time appends nothing twice: the messages' ids decide.
Source: design 3 (Transcripts); P4.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pinfold.server.transcripts import jsonl
from pinfold.server.transcripts.finding import Found, of_agents
from pinfold.server.transcripts.items import Compacted, Format, Item, Spoken, agent_of
from pinfold.server.transcripts.keeping import Keeper, let_go
from pinfold.server.transcripts.lines import LeftOut, Line, Lines, can_resume, head_digest
from pinfold.store.commands import Message, TranscriptMark
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

BATCH_MESSAGES = 400
BATCH_BYTES = 512 * 1024
"""How much of a transcript makes a transaction: others who write wait for it."""

HURRIED_BYTES = 128 * 1024
"""How much of a transcript makes a batch when there is a deadline: a few milliseconds of work."""

Progress = Callable[[int], None]
"""Called with the byte offset reached."""


@dataclass(frozen=True, slots=True)
class Source:
    """One transcript, and whose history it is. `briefed`: the conversation was given its briefs while it ran."""

    found: Found
    caller: Caller
    briefed: bool = False


@dataclass(frozen=True, slots=True)
class Followed:
    """What a reading came to. `unknown` are the lines that nothing is known of, or that are too long.

    Not `is_complete`: the deadline came before the end.
    """

    messages: int = 0
    repeated: int = 0
    folds: int = 0
    pins: int = 0
    unknown: LeftOut = field(default_factory=LeftOut)
    is_complete: bool = True


def follow(
    store: SyncStore, source: Source, deadline: float | None = None, progress: Progress | None = None
) -> Followed:
    """Read what is new in a transcript, until `deadline` (a reading of `time.monotonic`) if there is one.

    A file that is not there has nothing new, and what a sub-agent's says stays out of the log (see `subagents`).
    Raises `OSError`, and what the store raises.
    """
    path = source.found.path
    if source.found.heading.agent is not None:
        return Followed()
    try:
        head = head_digest(path)
    except FileNotFoundError:
        return Followed()
    mark = store.transcript_mark(str(path))
    start = mark.offset if mark and can_resume(path, mark.offset, mark.head) else 0
    here = TranscriptMark(str(path), source.caller.client, source.caller.conversation, start, head)
    return _Reading(store, source, here).run(deadline, progress)


def said(form: Format, line: Line, unknown: LeftOut) -> list[Item]:
    """Return what one line says, and count it where nothing is known of it."""
    known = form.unknown
    items = form.items(line.content)
    if form.unknown > known:
        unknown.add(line.start)
    return items


class _Reading:
    """One reading of one transcript; `mark` is how far everything is in the log, or in the batch."""

    def __init__(self, store: SyncStore, source: Source, mark: TranscriptMark) -> None:
        self._store = store
        self._source = source
        self._keeper = Keeper(source.caller, store.redactor)
        self._format = source.found.format()
        self._mark = mark
        self._saved = self._read = mark.offset
        self._batch: list[Message] = []
        self._found = Followed()

    def run(self, deadline: float | None, progress: Progress | None) -> Followed:
        self._look_back()
        lines = Lines(self._source.found.path, self._mark.offset)
        most_bytes = BATCH_BYTES if deadline is None else HURRIED_BYTES
        try:
            for line in lines:
                self._take(line, lines.left_out)
                if len(self._batch) >= BATCH_MESSAGES or line.stop - self._read >= most_bytes:
                    self._flush()
                    self._read = line.stop
                    if progress is not None:
                        progress(line.stop)
                if deadline is not None and time.monotonic() > deadline:
                    self._found = replace(self._found, is_complete=False)
                    break
            self._flush()
        finally:
            self._let_go()
        return replace(self._found, unknown=lines.left_out)

    def _look_back(self) -> None:
        """Remind the format of what it goes on from; what those lines say is in the log."""
        start = self._mark.offset
        back = min(self._format.looks_back_bytes, start)
        if not back:
            return
        for line in Lines(self._source.found.path, start - back):
            if line.stop > start:
                break
            self._format.items(line.content)

    def _take(self, line: Line, unknown: LeftOut) -> None:
        """Take in one line; nothing behind a line that waits for a later one may be counted as read."""
        for item in said(self._format, line, unknown):
            if isinstance(item, Compacted):
                self._fold(item)
            elif item.agent is None:
                self._batch.append(self._message(item))
        if not self._format.is_open:
            self._mark = replace(self._mark, offset=line.stop)

    def _message(self, spoken: Spoken) -> Message:
        message = self._keeper.message(spoken)
        agent = agent_of(spoken.external_id)
        if agent is None:
            return message
        from pinfold.server.transcripts.subagents import with_transcript

        return with_transcript(message, self._keeper, agent, self._agents.get(agent))

    @cached_property
    def _agents(self) -> dict[str, Path]:
        """Sub-agents by their ids, with where their own conversations lie."""
        return {found.heading.agent or "": found.path for found in of_agents(self._source.found)}

    def _fold(self, compacted: Compacted) -> None:
        from pinfold.server.transcripts.folds import record  # an audit needs much that other lines do not

        self._flush()
        is_new = record(self._store, self._keeper, compacted, briefed=self._source.briefed)
        self._found = replace(self._found, folds=self._found.folds + is_new)

    def _flush(self) -> None:
        """Append what was read and how far; ids of no client's own are their conversation's, without a mark."""
        mark = None if self._source.found.client == jsonl.NAME else self._mark
        is_further = mark is not None and mark.offset != self._saved
        if not self._batch and not is_further:
            return
        try:
            outcome = self._store.append_messages(self._source.caller, self._batch, mark)
        finally:
            self._let_go()
        self._saved = self._mark.offset
        self._found = replace(
            self._found,
            messages=self._found.messages + outcome.appended,
            repeated=self._found.repeated + outcome.repeated,
            pins=self._found.pins + outcome.pinned,
        )

    def _let_go(self) -> None:
        let_go(self._batch)
        self._batch = []
