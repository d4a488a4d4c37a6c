"""Reads: each one snapshot on a connection that cannot write, with a limit on its time.

Sources: design 1; P7, P16.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio

from pinfold.store.sql.database import Database
from pinfold.store.sql.verbs import READ_LIMIT_S
from pinfold.store.sqlite.connection import STEPS_BETWEEN_LOOKS, Place, connect, sealed
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.lane import Lane

T = TypeVar("T")


class Reader:
    """One connection for reading, one read at a time."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lane: Lane[SqliteDatabase] | None = None

    async def open(self) -> None:
        """Make the connection."""
        self._lane = await Lane.open(self._connect)

    def _connect(self) -> SqliteDatabase:
        db = connect(self._place.database, read_only=sealed(self._place.database) is not None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA query_only = ON")
        return db

    async def read(self, look: Callable[[Database], T], limit_s: float | None = READ_LIMIT_S) -> T:
        """Run `look` in one snapshot and return what it found; a cancelled caller stops it, and no other's.

        Raises `InvalidInputError` when it takes longer than `limit_s` (None: no limit).
        """
        assert self._lane is not None
        given_up = threading.Event()
        try:
            return await self._lane.run(
                partial(self._snapshot, look=look, limit_s=limit_s, given_up=given_up)
            )
        except anyio.get_cancelled_exc_class():
            given_up.set()
            raise

    def _snapshot(
        self,
        db: SqliteDatabase,
        look: Callable[[Database], T],
        limit_s: float | None,
        given_up: threading.Event,
    ) -> T:
        end = None if limit_s is None else time.monotonic() + limit_s

        def is_over() -> bool:
            return given_up.is_set() or (end is not None and time.monotonic() > end)

        db.set_progress_handler(is_over, STEPS_BETWEEN_LOOKS)
        try:
            db.execute("BEGIN")
            return look(db)
        except sqlite3.Error as error:
            translate(error, str(self._place.folder))
        finally:
            db.set_progress_handler(None, 0)
            if db.in_transaction:
                db.execute("ROLLBACK")

    async def close(self) -> None:
        """Close the connection. Idempotent."""
        if self._lane is not None:
            lane, self._lane = self._lane, None
            await lane.close()
