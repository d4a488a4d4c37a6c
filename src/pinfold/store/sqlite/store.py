"""`SqliteStore`: the contract, one file per project. Each method names its verb; the verbs are beside it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio

from pinfold.store import Progress
from pinfold.store.forgetting import Scrubbed
from pinfold.store.logged import LogEnd
from pinfold.store.redaction import Redactor
from pinfold.store.results import (
    StoreStatus,
    VerifyReport,
)
from pinfold.store.sql.database import Database
from pinfold.store.sql.logged import log_end
from pinfold.store.sql.rebuilding import rebuild
from pinfold.store.sql.status import Engine, status
from pinfold.store.sql.store import SqlStore
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place, read_meta
from pinfold.store.sqlite.gate import WAIT_S, Gate
from pinfold.store.sqlite.opening import check_engine, open_gate, prepare
from pinfold.store.sqlite.reader import Reader
from pinfold.store.sqlite.scrubbing import scrub
from pinfold.store.sqlite.verifying import stale_views, verify
from pinfold.store.sqlite.writer import Writer
from pinfold.store.values import Receipt

T = TypeVar("T")


async def open_store(folder: Path, project: str, wait_s: float = WAIT_S) -> SqliteStore:
    """Open the store in `folder`, making folder and database when there are none; the caller closes it.

    `project` names it in replies, and is kept when the store is made. `wait_s` bounds every wait for the
    lock. Raises `DamagedError`, `ReadOnlyError`, `BusyError`, `InvalidInputError`; never changes a file it
    cannot use.
    """
    return await _opened(await anyio.to_thread.run_sync(_prepare, folder, project, wait_s))


def _prepare(folder: Path, project: str, wait_s: float) -> SqliteStore:
    check_engine()
    place = Place(folder)
    gate = open_gate(place, wait_s)
    try:
        prepare(place, gate, project)
        return SqliteStore(place, gate, read_meta(place))
    except BaseException:
        gate.close()
        raise


async def _opened(store: SqliteStore) -> SqliteStore:
    try:
        await store.start()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await store.close()
        raise
    return store


def _rebuild(tx: Transaction, progress: Progress | None) -> int:
    tx.db.execute("REINDEX event")  # a damaged index of the log would hide what stands there
    return rebuild(tx.db, progress)


class SqliteStore(SqlStore):
    """One project's log in one SQLite file; made by `open_store`, of use only in its process and loop."""

    _reader: Reader
    _writer: Writer
    _schema = SCHEMA_VERSION

    def __init__(self, place: Place, gate: Gate, meta: dict[str, bytes]) -> None:
        self._place = place
        self._gate = gate
        redactor = Redactor(meta["secret"])
        writer = Writer(place, gate, redactor)
        super().__init__(meta["project"].decode(), redactor, Reader(place), writer)
        self._process = os.getpid()

    async def start(self) -> None:
        """Make the two connections."""
        await self._writer.open()
        await self._reader.open()

    async def status(self) -> StoreStatus:
        """See `Store.status`."""
        return await self._read(self._status)

    def _status(self, db: Database) -> StoreStatus:
        journal = db.execute("PRAGMA journal_mode").fetchone()[0]
        size, version = self._place.size_bytes, sqlite3.sqlite_version
        engine = Engine(str(self._place.folder), size, f"SQLite {version}", journal)
        return status(db, engine, self.project, self._writer.read_only)

    async def log_end(self) -> LogEnd:
        """See `Store.log_end`."""
        return await self._reader.read(
            lambda db: log_end(db, db.execute("PRAGMA user_version").fetchone()[0])
        )

    async def verify(
        self, progress: Progress | None = None, receipts: Sequence[Receipt] = ()
    ) -> VerifyReport:
        """See `Store.verify`."""
        return await anyio.to_thread.run_sync(verify, self._place.database, progress, receipts)

    async def stale_views(self, progress: Progress | None = None) -> tuple[str, ...]:
        """See `Store.stale_views`."""
        return await anyio.to_thread.run_sync(stale_views, self._place.database, progress)

    async def rebuild(self, progress: Progress | None = None) -> int:
        """See `Store.rebuild`."""
        return await self._writer.write(partial(_rebuild, progress=progress))

    async def scrub(self, progress: Progress | None = None) -> Scrubbed:
        """See `Store.scrub`."""
        return await self._writer.alone(lambda db: scrub(db, self._place, progress))

    async def close(self) -> None:
        """See `Store.close`."""
        if os.getpid() != self._process:
            return
        with anyio.CancelScope(shield=True):
            async with AsyncExitStack() as parts:
                parts.callback(self._gate.close)
                parts.push_async_callback(self._writer.close)
                parts.push_async_callback(self._reader.close)
