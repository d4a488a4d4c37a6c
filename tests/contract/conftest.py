"""Fixtures of the contract suite: `store` is empty, once per backend; `open_again` opens it anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from pinfold.store import Store
from pinfold.store.remote.address import Address, read_address
from pinfold.store.remote.store import open_remote
from pinfold.store.sqlite.store import open_store
from tests.http.serving import Served, served

Open = Callable[[], Awaitable[Store]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A team's server, for all tests: each has a project of its own there."""
    with served(tmp_path_factory.mktemp("team")) as found:
        yield found


@pytest.fixture
def reached(server: Served, tmp_path: Path) -> tuple[Address, str]:
    """Where the test's project is, and what this machine is called there."""
    token = server.token(tmp_path.name, tmp_path.name)
    return read_address(f"http://127.0.0.1:{server.port}/p/{tmp_path.name}", token), "this-machine"


@pytest.fixture(params=["sqlite", "http"])
async def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    opened: list[Store] = []

    async def open_one() -> Store:
        if request.param == "sqlite":
            store: Store = await open_store(tmp_path / "store", "demo")
        else:
            store = await open_remote(*request.getfixturevalue("reached"))
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_again: Open) -> Store:
    return await open_again()
