"""Reading a transcript into the log: from where the last reading stopped, each message once, folds in their place.

A batch of messages and how far they reach are one transaction, so a reading that is killed goes on where the log
ends. Whoever reads the same file at the same time appends nothing twice: the messages' ids decide. Source: design 3
(Transcripts); P7.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pinfold.server.transcripts import jsonl
from pinfold.server.transcripts.finding import Found
from pinfold.server.transcripts.items import Compacted, Spoken
from pinfold.server.transcripts.keeping import Keeper, let_go
from pinfold.server.transcripts.lines import Lines, can_resume, head_digest
from pinfold.server.transcripts.saying import pin_what_is_said
from pinfold.store.commands import Message, TranscriptMark
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

BATCH_MESSAGES = 400
BATCH_CHARS = 1024 * 1024
HURRIED_CHARS = 64 * 1024
"""What a batch holds when there is a deadline: a few milliseconds of work."""

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
    """What a reading came to. `unknown` counts lines that nothing is known of, or that are too long.

    `is_complete`: everything that could be read was; not so when the deadline came first.
    """

    messages: int = 0
    repeated: int = 0
    folds: int = 0
    pins: int = 0
    unknown: int = 0
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class _Size:
    messages: int = 0
    chars: int = 0

    def plus(self, chars: int) -> _Size:
        return _Size(self.messages + 1, self.chars + chars)

    def reaches(self, limit: _Size) -> bool:
        return self.messages >= limit.messages or self.chars >= limit.chars


def follow(
    store: SyncStore, source: Source, deadline: float | None = None, progress: Progress | None = None
) -> Followed:
    """Read what is new in a transcript, until `deadline` (a reading of `time.monotonic`) if there is one.

    A file that is not there has nothing new. Raises `OSError`, and what the store raises.
    """
    path = source.found.path
    try:
        head = head_digest(path)
    except FileNotFoundError:
        return Followed()
    mark = store.transcript_mark(str(path))
    start = mark.offset if mark and can_resume(path, mark.offset, mark.head) else 0
    here = TranscriptMark(str(path), source.caller.client, source.caller.conversation, start, head)
    return _Reading(store, source, here).run(deadline, progress)


class _Reading:
    """One reading of one transcript; `mark` is how far everything is in the log, or in the batch."""

    def __init__(self, store: SyncStore, source: Source, mark: TranscriptMark) -> None:
        self._store = store
        self._source = source
        self._format = source.found.format()
        self._mark = mark
        self._saved = mark.offset
        self._batch: dict[str, list[Message]] = {}
        self._size = _Size()
        self._found = Followed()

    def run(self, deadline: float | None, progress: Progress | None) -> Followed:
        lines = Lines(self._source.found.path, self._mark.offset)
        limit = _Size(BATCH_MESSAGES, BATCH_CHARS if deadline is None else HURRIED_CHARS)
        is_complete = True
        try:
            for line in lines:
                self._take(line.content, line.stop)
                if self._size.reaches(limit):
                    self._flush()
                    if progress is not None:
                        progress(line.stop)
                    if deadline is not None and time.monotonic() > deadline:
                        is_complete = False
                        break
            self._flush()
        finally:
            self._let_go()
        unknown = self._format.unknown + lines.skipped
        return replace(self._found, unknown=unknown, is_complete=is_complete)

    def _take(self, line: bytes, stop: int) -> None:
        """Take in one line; nothing behind a line that waits for a later one may be counted as read."""
        items = self._format.items(line)
        if not self._format.is_open:
            self._mark = replace(self._mark, offset=stop)
        for item in items:
            if isinstance(item, Compacted):
                self._fold(item)
            elif item.agent is None:
                self._say(item)

    def _keeper(self, conversation: str | None = None) -> Keeper:
        caller = self._source.caller
        return Keeper(replace(caller, conversation=conversation or caller.conversation), self._store.redactor)

    def _say(self, spoken: Spoken) -> None:
        keeper = self._keeper(spoken.conversation)
        pins = pin_what_is_said(self._store, keeper.caller, spoken)
        self._found = replace(self._found, pins=self._found.pins + pins)
        self._batch.setdefault(keeper.caller.conversation, []).append(keeper.message(spoken))
        self._size = self._size.plus(len(spoken.text))

    def _fold(self, compacted: Compacted) -> None:
        from pinfold.server.transcripts.folds import record  # an audit needs much that other lines do not

        self._flush()
        is_new = record(self._store, self._keeper(), compacted, briefed=self._source.briefed)
        self._found = replace(self._found, folds=self._found.folds + is_new)

    def _flush(self) -> None:
        """Append what was read and how far; message ids of no client's own are their conversation's, without a mark."""
        mark = None if self._source.found.client == jsonl.NAME else self._mark
        is_further = mark is not None and mark.offset != self._saved
        batch = self._batch or ({self._source.caller.conversation: []} if is_further else {})
        try:
            for conversation, messages in batch.items():
                self._append(replace(self._source.caller, conversation=conversation), messages, mark)
        finally:
            self._let_go()
        self._saved = self._mark.offset

    def _append(self, caller: Caller, messages: list[Message], mark: TranscriptMark | None) -> None:
        outcome = self._store.append_messages(caller, messages, mark)
        self._found = replace(
            self._found,
            messages=self._found.messages + outcome.appended,
            repeated=self._found.repeated + outcome.repeated,
        )

    def _let_go(self) -> None:
        for messages in self._batch.values():
            let_go(messages)
        self._batch, self._size = {}, _Size()
