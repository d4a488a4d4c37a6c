"""Messages on their way into another log, many at a time, and how far that is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType

from pinfold.server.copying.heard import name_of
from pinfold.server.copying.reading import Source
from pinfold.server.copying.retelling import Told, artifact_of, message_of
from pinfold.store import Store
from pinfold.store.commands import Message, SpillArtifact, TranscriptMark
from pinfold.store.values import Caller

_CLIENT = "pinfold-join"
_BATCH = 200
_BATCH_CHARS = 1024 * 1024


class Messages:
    """Appends messages in order. The destination remembers how far, as it does of a transcript: each comes once.

    `since` is where the destination's log ended when this source was first joined to it, `is_again` whether messages
    of it were then; `common` as in `Joining`.
    """

    def __init__(self, destination: Store, source: Source, mark: TranscriptMark, common: int) -> None:
        self.since = int(mark.head)
        self.is_again = mark.offset > 0
        self.appended = self.repeated = 0
        self._destination = destination
        self._source = source
        self._mark = mark
        self._common = common
        self._reached = mark.offset
        self._batch: list[Message] = []
        self._chars = 0
        self._caller = Caller(_CLIENT, mark.conversation, "import")
        self._contents = AsyncExitStack()

    @classmethod
    async def begin(cls, destination: Store, source: Source, beginning: bytes, common: int) -> Messages:
        """Find out how far joining came before; `beginning` is the digest of the first event that is joined."""
        name = name_of(beginning)
        mark = await destination.transcript_mark(name)
        if mark is None:
            mark = TranscriptMark(name, _CLIENT, name, 0, str((await destination.log_end()).seq))
            await destination.append_messages(Caller(_CLIENT, name, "import"), (), mark)
        return cls(destination, source, mark, common)

    async def __aenter__(self) -> Messages:
        """Begin."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the bytes that wait."""
        await self._contents.aclose()

    async def add(self, told: Told, brought: Sequence[Told]) -> None:
        """Append a message, or let it wait for more; `brought` are its artifacts."""
        if told.event.seq <= self._mark.offset:
            self.repeated += 1
            return
        if told.caller != self._caller:
            await self.flush()
            self._caller = told.caller
        pairs = [(each.pointer, kept) for each in brought if (kept := await self._artifact(each))]
        self._batch.append(message_of(told, pairs))
        self._chars += len(self._batch[-1].text)
        self._reached = told.event.seq
        if pairs or len(self._batch) >= _BATCH or self._chars >= _BATCH_CHARS:
            await self.flush()

    async def _artifact(self, told: Told) -> SpillArtifact | None:
        """Return an artifact with its bytes; one that stands in both logs is found there by those."""
        content = await self._source.content(told.event, told.body, self._contents)
        if content is None:
            return None
        kept = artifact_of(told, content)
        return replace(kept, key=None) if told.event.seq <= self._common else kept

    async def flush(self) -> None:
        """Append what waits."""
        if self._batch:
            mark = replace(self._mark, offset=self._reached)
            done = await self._destination.append_messages(self._caller, self._batch, mark)
            self.appended += done.appended
            self.repeated += done.repeated
        self._batch, self._chars = [], 0
        await self._contents.aclose()
        self._contents = AsyncExitStack()
