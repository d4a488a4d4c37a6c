"""A log that goes on in another store, part after part; what was sent stays, and the next run goes on behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace

from pinfold.context.visible import counted
from pinfold.server.copying.reading import Source, events_between
from pinfold.store import Progress, Store
from pinfold.store.events import Body, Kind
from pinfold.store.logged import LogEnd, LoggedEvent, LogPart


@dataclass
class Sending:
    """Sends what stands in `source` behind the event `after`, up to `end`, to a store whose log ends at `after`.

    `events`, `artifacts` and `size_bytes` count what was sent; `forgotten` what was blanked there, as it is here.
    """

    source: Store
    destination: Store
    after: int
    end: LogEnd
    progress: Progress | None = None
    events: int = 0
    artifacts: int = 0
    size_bytes: int = 0
    forgotten: int = 0

    async def run(self) -> None:
        """Send all. Raises `DamagedError` for what is damaged in the source, and what `Store.receive` raises."""
        secret = self.source.redactor.key if self.after == 0 else None
        may_be_blank = self.after > 0
        async with aclosing(self._parts()) as parts:
            async for part in parts:
                tells = may_be_blank and any(event.kind == Kind.ENTRY_FORGOTTEN for event in part.events)
                blank = await self._forgotten_since() if tells else ()
                await self.destination.receive(replace(part, secret=secret, blank=blank))
                secret, may_be_blank = None, may_be_blank and not tells
                self._count(part, len(blank))

    def _count(self, part: LogPart, blanked: int) -> None:
        self.events += len(part.events)
        self.forgotten += blanked
        if part.content is not None:
            self.artifacts += 1
            self.size_bytes += part.content.size_bytes
        if self.progress is not None:
            self.progress(part.events[-1].seq, self.end.seq)

    async def _parts(self) -> AsyncGenerator[LogPart, None]:
        """Yield the events, an artifact with bytes that have not come before as the last of its part."""
        source, known = Source(self.source, self.end, self._outcome), set[str]()
        async for events in source.slices(self.after):
            begun: list[LoggedEvent] = []
            for event in events:
                artifact = _artifact(event)
                if artifact is None or artifact["sha256"] in known:
                    begun.append(event)
                    continue
                async with AsyncExitStack() as stack:
                    content = await source.content(event, artifact, stack)
                    yield LogPart((*begun, event if content else replace(event, body=None)), content)
                begun = []
                if content is not None:
                    known.add(artifact["sha256"])
            if begun:
                yield LogPart(tuple(begun))

    def _outcome(self) -> str:
        return f"its first {counted(self.after + self.events, 'event')} are in the destination"

    async def _forgotten_since(self) -> tuple[int, ...]:
        """Return the seqs of what the destination holds and the source does not any more."""
        gone = await _without_body(self.source, self.after) - await _without_body(
            self.destination, self.after
        )
        return tuple(sorted(gone))


def _artifact(event: LoggedEvent) -> Body | None:
    """Return what an event says of the artifact that came with it, None where none did."""
    if event.kind != Kind.ARTIFACT_SPILLED or event.body is None:
        return None
    body: Body = json.loads(event.body)
    return body


async def _without_body(store: Store, until: int) -> set[int]:
    slices = events_between(store, 0, until)
    return {event.seq async for events in slices for event in events if event.body is None}
