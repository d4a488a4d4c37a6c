"""A store in a PostgreSQL database, where this installation can reach one."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pinfold.store.errors import InvalidInputError

if TYPE_CHECKING:
    from pinfold.store import Store
    from pinfold.store.postgres.direct import PostgresDirectStore


async def open_postgres(address: str, project: str) -> Store:
    """Open a project of a database; see `stores.open_by_address`."""
    _check_driver()
    from pinfold.store.postgres.store import open_store

    return await open_store(address, project)


def open_postgres_direct(address: str, project: str, wait_s: float | None) -> PostgresDirectStore:
    """Open a project of a database for those who wait where they call."""
    _check_driver()
    from pinfold.store.postgres.direct import open_direct
    from pinfold.store.postgres.link import WAIT_S

    return open_direct(address, project, WAIT_S if wait_s is None else wait_s)


def _check_driver() -> None:
    if find_spec("psycopg") is None:
        raise InvalidInputError(
            "This installation has no driver for PostgreSQL.", "Install it: pip install 'pinfold[postgres]'."
        )
