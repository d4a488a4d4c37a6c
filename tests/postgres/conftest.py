"""Fixtures: `address` opens a fresh project as the tables' owner, `called` as a role that owns nothing."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.postgres import shared
from tests.postgres.proxy import Proxy


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def owner(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The database's address as the role that owns the tables."""
    return shared.database(shared.run_folder(tmp_path_factory))


@pytest.fixture
def superuser(tmp_path_factory: pytest.TempPathFactory, owner: str) -> str:
    """The database's address as its superuser."""
    server = shared.server(shared.run_folder(tmp_path_factory))
    return server.rpartition("/")[0] + "/" + owner.rpartition("/")[2]


@pytest.fixture
def address(owner: str) -> str:
    return f"{owner}#{uuid4().hex}"


@pytest.fixture
async def called(owner: str) -> str:
    """The database's address as a role that may read and write rows, and owns nothing."""
    from pinfold.store.postgres.store import open_store

    await (await open_store(owner, "first")).close()
    shared.grant(owner)
    return shared.as_role(owner, shared.CALLER, shared.DATABASE)


@pytest.fixture
def proxy(owner: str) -> Iterator[Proxy]:
    """A way to the server that can be cut."""
    with Proxy(owner) as between:
        yield between


@pytest.fixture
def blank(superuser: str) -> Iterator[str]:
    """A database of its own, with nothing in it, as its owner sees it."""
    name = f"blank_{uuid4().hex}"
    import psycopg

    with psycopg.connect(superuser, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {shared.OWNER}")
        yield shared.as_role(superuser, shared.OWNER, name)
        db.execute(f"DROP DATABASE {name} WITH (FORCE)")
