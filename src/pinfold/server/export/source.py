"""What an export reads: events in order up to one end, however long the log, and what of it could not be read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from pinfold.store import Progress, Store
from pinfold.store.logged import LogEnd, LoggedEvent


@dataclass
class Source:
    """A store, up to `end`; `session` alone where one is named. What is written later is not exported."""

    store: Store
    end: LogEnd
    session: int | None = None
    progress: Progress | None = None
    events: int = 0
    artifacts: int = 0
    damaged: list[str] = field(default_factory=list)

    async def log(self, session: int | None = None) -> AsyncIterator[LoggedEvent]:
        """Yield the events of `session`, else of all that is exported."""
        after, wanted = 0, session or self.session
        while batch := await self.store.logged(after, wanted):
            for event in batch:
                if event.seq > self.end.seq:
                    return
                yield event
            after = batch[-1].seq

    def tell(self, event: LoggedEvent) -> None:
        """Count an event as exported and say how far that is."""
        self.events += 1
        if self.progress is not None:
            self.progress(event.seq, self.end.seq)


Format = Callable[[Source], AsyncIterator[str]]
"""Yields an export piece by piece."""
