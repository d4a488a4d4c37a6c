"""How a backend runs a verb: a read in one snapshot, a write in one transaction, each to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pinfold.store.sql.database import Database
from pinfold.store.sql.transaction import Transaction

T = TypeVar("T")

READ_LIMIT_S = 5.0
"""How long one read may take (P16)."""

NOTE_WAIT_S = 0.5
"""A caller that can do without its note waits no longer: an answer is not held up by a long write."""

OURSELVES = "a longer write of this process"


class Reading(Protocol):
    """Looks at a store."""

    async def read(self, look: Callable[[Database], T], limit_s: float | None = READ_LIMIT_S) -> T:
        """Run `look` in one snapshot; raises `InvalidInputError` after `limit_s` (None: no limit)."""


class Writing(Protocol):
    """Writes to a store."""

    @property
    def read_only(self) -> str | None:
        """Why nothing can be written, if so."""

    async def write(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb as one durable transaction; what happens to the caller cannot leave it open."""

    async def note(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb whose loss at a power cut would not matter; raises `BusyError` rather than wait long."""
