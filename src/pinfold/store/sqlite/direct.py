"""`DirectStore`: a `SyncStore` that reads and writes the file where it is called; see `store/sql/direct.py`."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pinfold.store.sql.database import Database
from pinfold.store.sql.direct import SqlDirectStore
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sql.verbs import READ_LIMIT_S
from pinfold.store.sqlite.connection import STEPS_BETWEEN_LOOKS, Place, read_meta, refuse_fork
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.gate import WAIT_S, Gate
from pinfold.store.sqlite.opening import open_gate, prepare
from pinfold.store.sqlite.pen import Pen

T = TypeVar("T")


def open_direct(folder: Path, project: str, wait_s: float = WAIT_S) -> DirectStore:
    """Open the store in `folder`, making it when there is none; see `open_store` in `store.py`."""
    place = Place(folder)
    gate = open_gate(place, wait_s)
    try:
        prepare(place, gate, project)
        return DirectStore(place, gate, read_meta(place))
    except BaseException:
        gate.close()
        raise


class DirectStore(SqlDirectStore):
    """One project's log in one SQLite file, for one thread; made by `open_direct`."""

    def __init__(self, place: Place, gate: Gate, meta: dict[str, bytes]) -> None:
        super().__init__(meta["project"].decode(), meta["secret"])
        self._place = place
        self._gate = gate
        self._pen = Pen(place, gate, self.redactor)
        self._db = self._pen.open()
        self._process = os.getpid()

    def _write(self, verb: Callable[[Transaction], T]) -> T:
        return self._pen.write(self._db, verb, time.monotonic())

    def _read(self, look: Callable[[Database], T]) -> T:
        refuse_fork(self._process)
        end = time.monotonic() + READ_LIMIT_S
        self._db.set_progress_handler(lambda: time.monotonic() > end, STEPS_BETWEEN_LOOKS)
        try:
            self._db.execute("BEGIN")
            return look(self._db)
        except sqlite3.Error as error:
            translate(error, str(self._place.folder))
        finally:
            self._db.set_progress_handler(None, 0)
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the files; in a forked child, where they are its parent's, do nothing."""
        if os.getpid() != self._process:
            return
        self._pen.close(self._db)
        self._gate.close()
