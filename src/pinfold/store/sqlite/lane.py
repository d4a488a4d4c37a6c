"""A lane: one SQLite connection on one thread, and functions that run on it from start to end.

aiosqlite carries the connection and the thread. Its public calls are one statement each, so a transaction
would be a chain of awaits, which a cancelled task leaves open for the next caller to commit; a lane hands
over whole functions instead. Its thread is made a daemon, since a connection that nobody closed would
otherwise keep the process alive. Both touch private names of aiosqlite 0.22, hence the pinned version and
`tests/store/test_lane.py`. Source: docs/decisions/0002.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine
from typing import Generic, TypeVar, cast

import aiosqlite
from anyio import CancelScope

from pinfold.store.sqlite.connection import refuse_fork

T = TypeVar("T")
C = TypeVar("C", bound=sqlite3.Connection)


class Lane(Generic[C]):
    """Runs functions one after the other on one connection's thread."""

    def __init__(self, link: aiosqlite.Connection) -> None:
        self._link = link
        self._process = os.getpid()
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, connect: Callable[[], C]) -> Lane[C]:
        """Start the thread and make the connection on it with `connect`; raises what that raises."""
        link = aiosqlite.Connection(connect, iter_chunk_size=64)
        link._thread.daemon = True  # noqa: SLF001 - see the module's docstring
        with CancelScope(shield=True):
            await link
        return cls(link)

    async def run(self, work: Callable[[C], T]) -> T:
        """Run `work` to its end on the lane and return its outcome.

        A cancelled caller stops waiting, but work that was handed over still runs to its end.
        Raises `RuntimeError` in a forked child and on another event loop.
        """
        self._check_caller()
        run = cast(Callable[..., Awaitable[T]], self._link._execute)  # noqa: SLF001
        return await run(work, self._link._conn)  # noqa: SLF001

    def _check_caller(self) -> None:
        """Refuse whom no outcome would ever reach: the thread is not in a child, and may have ended with its loop."""
        refuse_fork(self._process)
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("This store was opened on another event loop: open it anew on this one.")

    async def close(self) -> None:
        """Close the connection and end the thread; raises as `run` does."""
        self._check_caller()
        with CancelScope(shield=True):
            await _to_its_end(self._link.close())


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Wait for work that must not be left half done, also when the task itself is cancelled, which no scope stops."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
