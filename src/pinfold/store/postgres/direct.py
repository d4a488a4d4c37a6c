"""A PostgreSQL store for one thread, without event loop; see `store/sql/direct.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from pinfold.store.errors import ReadOnlyError
from pinfold.store.postgres.address import read_address
from pinfold.store.postgres.link import WAIT_S, Limits, Link
from pinfold.store.postgres.opening import Opened, open_project
from pinfold.store.sql.database import Database
from pinfold.store.sql.direct import SqlDirectStore
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sql.verbs import READ_LIMIT_S

T = TypeVar("T")


def open_direct(address: str, project: str, wait_s: float = WAIT_S) -> PostgresDirectStore:
    """Open a project of the database at an address; see `open_store` in `store.py`."""
    where = read_address(address, project)
    opened = open_project(where)
    return PostgresDirectStore(Link(where, opened.project), opened, Limits(wait_s))


class PostgresDirectStore(SqlDirectStore):
    """One project's log in a database, for one thread; made by `open_direct`."""

    def __init__(self, link: Link, opened: Opened, limits: Limits) -> None:
        super().__init__(opened.name, opened.secret)
        self._link = link
        self._limits = limits
        self._read_only = opened.read_only

    def _write(self, verb: Callable[[Transaction], T]) -> T:
        if self._read_only is not None:
            raise ReadOnlyError(self._read_only)
        return self._link.write(verb, self.redactor, self._limits, time.monotonic())

    def _read(self, look: Callable[[Database], T]) -> T:
        return self._link.read(look, READ_LIMIT_S)

    def close(self) -> None:
        """Let go of the connection. Idempotent."""
        self._link.close()
