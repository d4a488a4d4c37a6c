"""The stores of many projects, opened when they are asked for; closed when nobody has for a while, or others need room.

An open store has six files (SQLite) or two connections (PostgreSQL), and a process may have some hundred of either.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from pinfold.server.notes import note_failure
from pinfold.store import Store

IDLE_S = 600.0
MOST_OPEN = 40
"""How many stores stay open while nobody uses them: 80 of the 100 connections that PostgreSQL has by default."""

_SWEEP_S = 60.0

Opener = Callable[[str], Awaitable[Store]]
"""Opens the store of a project by its name."""


@dataclass(slots=True)
class _Kept:
    """One project's store, who uses it now, and since when nobody does."""

    store: Store | None = None
    users: int = 0
    idle_since: float = 0.0
    opening: anyio.Lock = field(default_factory=anyio.Lock)


class OpenStores:
    """Each project has at most one open store here, shared by all requests to it."""

    def __init__(self, opener: Opener, idle_s: float = IDLE_S, most_open: int = MOST_OPEN) -> None:
        self._opener = opener
        self._idle_s = idle_s
        self._most_open = most_open
        self._kept: dict[str, _Kept] = {}

    @asynccontextmanager
    async def at(self, project: str) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
        """Hold a project's place for the time of a request; what is yielded opens its store when it is called."""
        kept = self._kept.setdefault(project, _Kept())
        kept.users += 1
        try:
            yield lambda: self._open(project, kept)
        finally:
            kept.users -= 1
            kept.idle_since = time.monotonic()

    async def _open(self, project: str, kept: _Kept) -> Store:
        async with kept.opening:
            if kept.store is None:
                await self._make_room()
                kept.store = await self._opener(project)
            return kept.store

    async def _make_room(self) -> None:
        """Close what has been idle longest, so that one more may be open; what is in use stays, however much it is."""
        opened = [kept for kept in self._kept.values() if kept.store is not None]
        idle = sorted((kept for kept in opened if not kept.users), key=lambda kept: kept.idle_since)
        for kept in idle[: max(0, len(opened) + 1 - self._most_open)]:
            # Nobody who holds it waits for us: whoever did had no store when we looked.
            async with kept.opening:
                if not kept.users:
                    await _close(kept)

    async def tidy(self) -> None:
        """Close what is idle, now and again, until cancelled."""
        while True:
            await anyio.sleep(min(_SWEEP_S, self._idle_s))
            await self.close_idle(time.monotonic() - self._idle_s)

    async def close_idle(self, before: float) -> None:
        """Close what nobody has used since a moment of the monotonic clock; who comes meanwhile waits."""
        for kept in tuple(self._kept.values()):
            async with kept.opening:
                if not kept.users and kept.idle_since <= before:
                    await _close(kept)

    async def close(self) -> None:
        """Close everything, whoever uses it."""
        with anyio.CancelScope(shield=True):
            for kept in tuple(self._kept.values()):
                await _close(kept)


async def _close(kept: _Kept) -> None:
    store, kept.store = kept.store, None
    if store is not None:
        try:
            await store.close()
        except Exception as error:  # the others are to be closed all the same
            note_failure("closing a store", error)
