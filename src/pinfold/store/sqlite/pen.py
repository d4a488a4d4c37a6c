"""The pen: the one connection that writes, whole transactions behind the gate, each to its end or not at all.

It knows nothing of event loops or threads: `writer.py` runs it on a lane, `direct.py` where it is called.
Sources: design 1 (the writer), P1 to P3, P5, P11, P12.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from pinfold.store.errors import BusyError, DamagedError, ReadOnlyError
from pinfold.store.redaction import Redactor
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sql.verbs import NOTE_WAIT_S, OURSELVES
from pinfold.store.sqlite.connection import DURABLY, Place, check_identity, connect, sealed
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.gate import Gate
from pinfold.store.sqlite.opening import check_carrier
from pinfold.store.sqlite.upgrading import bring_up, is_old

T = TypeVar("T")

CLOSE_WAIT_S = 1.0
"""A process that ends does not wait longer for a lock that it can do without."""


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Pen:
    """Writes to one store; for one thread at a time. `read_only` says why nothing can be written, if so."""

    def __init__(self, place: Place, gate: Gate, redactor: Redactor) -> None:
        self._place = place
        self._gate = gate
        self._redactor = redactor
        self._database = str(place.database)  # as text: they are looked at before each write
        self._files = {self._database: _identity(self._database)}
        self._has_wal = False
        self.read_only: str | None = "it is not open"

    def open(self) -> SqliteDatabase:
        """Connect, and bring an older file up to date; raises `DamagedError` for a file of another program."""
        why = sealed(self._database)
        db = connect(self._place.database, read_only=why is not None)
        try:
            db.row_factory = sqlite3.Row
            db.execute(DURABLY)
            self._has_wal = db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
            self.read_only = why or check_identity(db, self._place) or check_carrier(db, self._place)
            if is_old(db):
                self._upgrade(db)
            if self._has_wal and self.read_only is None:  # then both are there, until the last one closes it
                beside = (str(self._place.log_ahead), str(self._place.shared_memory))
                self._files |= {path: _identity(path) for path in beside}
        except sqlite3.Error as error:
            db.close()
            translate(error, str(self._place.folder))
        except BaseException:
            db.close()
            raise
        return db

    def _upgrade(self, db: SqliteDatabase) -> None:
        if self.read_only is not None:
            raise ReadOnlyError(
                f"an earlier pinfold wrote it, and {self.read_only}", "Open it once where it can be written."
            )
        bring_up(db, self._place, self._gate)

    def write(self, db: SqliteDatabase, verb: Callable[[Transaction], T], asked: float) -> T:
        """Run a verb as one durable transaction and return its outcome; waiting counts from `asked`."""
        return self._transact(db, verb, asked)

    def note(self, db: SqliteDatabase, verb: Callable[[Transaction], T], asked: float) -> T:
        """Run a verb whose loss at a power cut would not matter: without waiting for the disk.

        Except with a rollback journal: one that has not reached the disk could damage the whole file (P2).
        Raises `BusyError` after `NOTE_WAIT_S`, at once where it has waited that long for its turn.
        """
        if time.monotonic() - asked >= NOTE_WAIT_S:
            raise BusyError(NOTE_WAIT_S, OURSELVES)
        if not self._has_wal:
            return self._transact(db, verb, asked, NOTE_WAIT_S)
        db.execute("PRAGMA synchronous = NORMAL")
        try:
            return self._transact(db, verb, asked, NOTE_WAIT_S)
        finally:
            db.execute(DURABLY)

    def alone(self, db: SqliteDatabase, work: Callable[[SqliteDatabase], T], asked: float) -> T:
        """Run what is no transaction of a verb, behind the gate, so that nobody else writes meanwhile."""
        with self._at_the_file(asked):
            try:
                return work(db)
            except sqlite3.Error as error:
                translate(error, str(self._place.folder))

    def _transact(
        self,
        db: SqliteDatabase,
        verb: Callable[[Transaction], T],
        asked: float,
        wait_s: float | None = None,
    ) -> T:
        with self._at_the_file(asked, wait_s):
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                translate(error, str(self._place.folder))
            try:
                self._check_schema(db)
                outcome = verb(Transaction(db, self._redactor))
            except sqlite3.Error as error:
                _roll_back(db)
                translate(error, str(self._place.folder))
            except BaseException:
                _roll_back(db)
                raise
            self._commit(db)
            return outcome

    @contextmanager
    def _at_the_file(self, asked: float, wait_s: float | None = None) -> Iterator[None]:
        """Hold the gate, once it is clear that the file may be written and is still the store's."""
        if self.read_only is not None:
            raise ReadOnlyError(self.read_only)
        with self._gate.hold(asked, wait_s):
            self._check_file()
            yield

    def _commit(self, db: SqliteDatabase) -> None:
        try:
            db.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(db)
            translate(error, str(self._place.folder), committing=True)

    def _check_file(self) -> None:
        """Refuse to write into a file that is no longer the one at the store's path, or may not be written now.

        What goes into a log ahead that was removed is read by nobody else, and lost when this process is killed.
        """
        gone = next((path for path, known in self._files.items() if _identity(path) != known), None)
        if gone is not None:
            raise DamagedError(
                f"{gone} (it was replaced or removed while open)",
                "Reads show the old file; start pinfold anew to use what is there now.",
            )
        why = sealed(self._database)  # SQLite would notice at the commit only, and then nobody knows
        if why is not None:
            raise ReadOnlyError(why)

    def _check_schema(self, db: SqliteDatabase) -> None:
        """Refuse to write what another pinfold has brought up to a newer schema while this one had it open (P15)."""
        newer = check_identity(db, self._place)
        if newer is not None:
            raise ReadOnlyError(newer)

    def close(self, db: SqliteDatabase) -> None:
        """Close behind the gate; without it when its holder does not move, who then has the file open still.

        SQLite checkpoints only at the last close of all, so such a close cannot meet anybody's commit.
        """
        try:
            with self._gate.hold(time.monotonic(), CLOSE_WAIT_S):
                db.close()
        except BusyError:
            db.close()


def _roll_back(db: SqliteDatabase) -> None:
    """Undo what is open; a rollback that fails, too, must not hide why there is one."""
    if db.in_transaction:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
