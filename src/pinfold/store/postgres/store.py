"""`PostgresStore`: the contract, many projects in one database; the verbs are those of `store/sql/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio

from pinfold.store import Progress
from pinfold.store.forgetting import Scrubbed
from pinfold.store.logged import LogEnd
from pinfold.store.postgres.address import Address, read_address
from pinfold.store.postgres.lane import PostgresReader, PostgresWriter
from pinfold.store.postgres.link import WAIT_S, Connection, Limits, Link, apart
from pinfold.store.postgres.opening import Opened, open_project
from pinfold.store.postgres.scrubbing import scrub
from pinfold.store.postgres.verifying import Verification
from pinfold.store.redaction import Redactor
from pinfold.store.results import StoreStatus, VerifyReport
from pinfold.store.sql.database import Database
from pinfold.store.sql.logged import log_end
from pinfold.store.sql.rebuilding import rebuild
from pinfold.store.sql.status import Engine, status
from pinfold.store.sql.store import SqlStore
from pinfold.store.sqlite.connection import SCHEMA_VERSION
from pinfold.store.values import Receipt

T = TypeVar("T")


async def open_store(address: str, project: str, wait_s: float = WAIT_S) -> PostgresStore:
    """Open a project of the database at an address, making schema and project where there are none.

    `project` names it where the address does not. `wait_s` bounds every wait of a write for another one. Raises
    `InvalidInputError`, `ReadOnlyError`, `UnreachableError`; never with a password in it.
    """
    where = read_address(address, project)
    opened = await anyio.to_thread.run_sync(open_project, where)
    return PostgresStore(where, opened, Limits(wait_s))


class PostgresStore(SqlStore):
    """One project's log in a database; made by `open_store`. Its two connections are made when they are needed."""

    _writer: PostgresWriter
    _reader: PostgresReader
    _schema = SCHEMA_VERSION

    def __init__(self, address: Address, opened: Opened, limits: Limits) -> None:
        self._address = address
        self._project = opened.project
        redactor = Redactor(opened.secret)
        writer = PostgresWriter(Link(address, opened.project), redactor, opened.read_only, limits)
        super().__init__(opened.name, redactor, PostgresReader(Link(address, opened.project)), writer)

    async def status(self) -> StoreStatus:
        """See `Store.status`."""
        return await self._read(self._status)

    def _status(self, db: Database) -> StoreStatus:
        version = db.execute("SHOW server_version").fetchone()[0].split()[0]
        size = db.execute("SELECT coalesce(sum(length(body)), 0) FROM event").fetchone()[0]
        size += db.execute("SELECT coalesce(sum(length(packed)), 0) FROM chunk").fetchone()[0]
        engine = Engine(self._address.shown, int(size), f"PostgreSQL {version}", "write-ahead log")
        return status(db, engine, self.project, self._writer.read_only)

    async def log_end(self) -> LogEnd:
        """See `Store.log_end`."""
        return await self._read(lambda db: log_end(db, SCHEMA_VERSION))

    async def verify(
        self, progress: Progress | None = None, receipts: Sequence[Receipt] = ()
    ) -> VerifyReport:
        """See `Store.verify`; in one snapshot, without a copy of the log and the bytes."""
        look = partial(Verification(self._project, progress).report, receipts=receipts)
        return await self._apart(look)

    async def stale_views(self, progress: Progress | None = None) -> tuple[str, ...]:
        """See `Store.stale_views`."""
        return await self._apart(Verification(self._project, progress).stale)

    async def rebuild(self, progress: Progress | None = None) -> int:
        """See `Store.rebuild`."""
        return await self._writer.write(lambda tx: rebuild(tx.db, progress))

    async def scrub(self, progress: Progress | None = None) -> Scrubbed:
        """See `Store.scrub`; it writes the tables of all projects anew."""
        return await self._apart(partial(scrub, project=self._project, progress=progress))

    async def _apart(self, work: Callable[[Connection], T]) -> T:
        """Run long work on a connection of its own, beside reads and writes."""
        return await anyio.to_thread.run_sync(apart, self._address, self._project, work)

    async def close(self) -> None:
        """See `Store.close`."""
        await self._reader.close()
        await self._writer.close()
