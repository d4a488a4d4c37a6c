"""A lane: one link, and functions that run on it one after the other, each to its end, on a worker thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, move_on_after

from pinfold.store.errors import BusyError, ReadOnlyError
from pinfold.store.postgres.link import Limits, Link
from pinfold.store.redaction import Redactor
from pinfold.store.sql.database import Database
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sql.verbs import NOTE_WAIT_S, OURSELVES, READ_LIMIT_S

T = TypeVar("T")


class Lane:
    """Hands functions over to one link, in the order in which they come."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._turn = CapacityLimiter(1)

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` to its end; a caller that is cancelled before its turn has asked for nothing."""
        return await anyio.to_thread.run_sync(work, limiter=self._turn)

    async def close(self) -> None:
        """Wait for what has begun, and let go of the connection."""
        with anyio.CancelScope(shield=True):
            await self.run(self._link.close)


class PostgresReader(Lane):
    """See `Reading`."""

    async def read(self, look: Callable[[Database], T], limit_s: float | None = READ_LIMIT_S) -> T:
        """Run `look` in one snapshot."""
        return await self.run(partial(self._link.read, look, limit_s))


class PostgresWriter(Lane):
    """See `Writing`."""

    def __init__(self, link: Link, redactor: Redactor, read_only: str | None, limits: Limits) -> None:
        super().__init__(link)
        self.read_only = read_only
        self._redactor = redactor
        self._limits = limits

    async def write(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb as one durable transaction."""
        with anyio.CancelScope(shield=True):
            outcome = await self.run(self._writing(verb, self._limits))
        return outcome  # noqa: RET504 - by its type, a cancel scope might swallow what is raised in it

    async def note(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb whose loss at a power cut would not matter; raises `BusyError` after `NOTE_WAIT_S`."""
        limits = Limits(min(NOTE_WAIT_S, self._limits.wait_s), durably=False)
        with move_on_after(NOTE_WAIT_S):
            return await self.run(self._writing(verb, limits))
        raise BusyError(NOTE_WAIT_S, OURSELVES)

    def _writing(self, verb: Callable[[Transaction], T], limits: Limits) -> Callable[[], T]:
        if self.read_only is not None:
            raise ReadOnlyError(self.read_only)
        return partial(self._link.write, verb, self._redactor, limits, time.monotonic())
