"""The one writer of an event loop: a pen on a lane.

A caller hands over a function and awaits only its outcome; what happens to the caller cannot leave a
transaction open. Sources: design 1 (the writer), P3, P14.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from anyio import CancelScope, move_on_after

from pinfold.store.errors import BusyError, ReadOnlyError
from pinfold.store.redaction import Redactor
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sql.verbs import NOTE_WAIT_S, OURSELVES
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.gate import Gate
from pinfold.store.sqlite.lane import Lane
from pinfold.store.sqlite.pen import Pen

T = TypeVar("T")


class Writer:
    """Owns the write connection."""

    def __init__(self, place: Place, gate: Gate, redactor: Redactor) -> None:
        self._pen = Pen(place, gate, redactor)
        self._lane: Lane[SqliteDatabase] | None = None

    @property
    def read_only(self) -> str | None:
        """Why nothing can be written, if so."""
        return self._pen.read_only

    async def open(self) -> None:
        """Make the connection; raises `DamagedError` for a file of another program."""
        self._lane = await Lane.open(self._pen.open)

    async def write(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb as one durable transaction; see `Pen.write`."""
        return await self._submit(partial(self._pen.write, verb=verb, asked=time.monotonic()))

    async def note(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb whose loss at a power cut would not matter; see `Pen.note`.

        Raises `BusyError` after `NOTE_WAIT_S`, also behind a long write of this process: a note that has begun by then
        runs to its end, one that has not is dropped.
        """
        with move_on_after(NOTE_WAIT_S, shield=True):
            return await self._submit(
                partial(self._pen.note, verb=verb, asked=time.monotonic()), shield=False
            )
        raise BusyError(NOTE_WAIT_S, OURSELVES)

    async def alone(self, work: Callable[[SqliteDatabase], T]) -> T:
        """Run what needs the store to itself and is no transaction; see `Pen.alone`."""
        return await self._submit(partial(self._pen.alone, work=work, asked=time.monotonic()))

    async def _submit(self, work: Callable[[SqliteDatabase], T], *, shield: bool = True) -> T:
        if self._lane is None or self.read_only is not None:
            raise ReadOnlyError(self.read_only or "it is not open")
        with CancelScope(shield=shield):
            outcome = await self._lane.run(work)
        return outcome  # noqa: RET504 - by its type, a cancel scope might swallow what is raised in it

    async def close(self) -> None:
        """Finish what was handed over and close; behind the gate, since the last close checkpoints."""
        if self._lane is None:
            return
        lane, self._lane = self._lane, None
        with CancelScope(shield=True):
            try:
                await lane.run(self._pen.close)
            finally:
                await lane.close()
