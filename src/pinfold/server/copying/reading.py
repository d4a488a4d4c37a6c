"""What a copy reads of its source: events and bytes, each checked. Reading keeps nobody waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

from anyio import from_thread, to_thread

from pinfold.server.copying.beginnings import digest_at
from pinfold.store import Store
from pinfold.store.content import Content, collect
from pinfold.store.errors import DamagedError, NotFoundError
from pinfold.store.events import Body
from pinfold.store.logged import LogEnd, LoggedEvent

_PIECE_BYTES = 1024 * 1024
_MEND = (
    "`pinfold verify` says what of the source is affected. Restore a backup of it, or forget what is damaged, and run"
    " this again: it goes on from there."
)


async def events_between(store: Store, after: int, end: int) -> AsyncIterator[list[LoggedEvent]]:
    """Yield the events of a log behind `after` up to `end`, many at a time."""
    while after < end:
        found = [event for event in await store.logged(after) if event.seq <= end]
        yield found
        after = found[-1].seq


@dataclass(frozen=True, slots=True)
class Source:
    """A store up to `end`. What is damaged raises `DamagedError`, in which `outcome` says what was done before."""

    store: Store
    end: LogEnd
    outcome: Callable[[], str]

    async def slices(self, after: int) -> AsyncIterator[list[LoggedEvent]]:
        """Yield the events behind `after`. Raises `DamagedError` for one that is not what it was."""
        previous = await digest_at(self.store, after)
        async for found in events_between(self.store, after, self.end.seq):
            for event in found:
                if not event.follows(previous):
                    raise DamagedError(f"Event {event.seq} of the source", _MEND, self.outcome())
                previous = event.digest
            yield found

    async def content(self, event: LoggedEvent, artifact: Body, stack: AsyncExitStack) -> Content | None:
        """Return the bytes of the artifact of an event, which the stack closes; None where it was forgotten meanwhile.

        Raises `DamagedError` where they are not what they were. Source: P9.
        """
        try:
            content = await to_thread.run_sync(
                lambda: collect(self._blocks(artifact), artifact["size_bytes"])
            )
            stack.callback(content.close)
            if content.sha256.hex() == artifact["sha256"]:
                return content
        except (DamagedError, NotFoundError):
            pass
        if (await self.store.logged(event.seq - 1))[0].body is None:
            return None
        what = f"A{artifact['number']} of the source (event {event.seq})"
        raise DamagedError(what, _MEND, self.outcome())

    def _blocks(self, artifact: Body) -> Iterator[bytes]:
        """Yield the bytes on the thread that packs them; they are read where the store is at home."""
        number, start = artifact["number"], 0
        while start < artifact["size_bytes"]:
            piece = from_thread.run(self.store.artifact_bytes, number, start, _PIECE_BYTES).content
            if not piece:
                return
            yield piece
            start += len(piece)
