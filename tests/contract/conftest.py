"""Fixtures of the contract suite: `store` is empty, once per backend; `open_again` opens it anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from pinfold.store import Store
from pinfold.store.remote.address import read_address
from pinfold.store.remote.store import open_remote
from pinfold.store.sqlite.store import open_store
from tests.remote.serving import TOKEN, Serving, serving

Open = Callable[[], Awaitable[Store]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A team's server, for all tests: each has a project of its own there."""
    with serving(tmp_path_factory.mktemp("team")) as found:
        yield found


@pytest.fixture(params=["sqlite", "http"])
async def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    opened: list[Store] = []

    async def open_one() -> Store:
        if request.param == "sqlite":
            store: Store = await open_store(tmp_path / "store", "demo")
        else:
            url = request.getfixturevalue("server").url(tmp_path.name)
            store = await open_remote(read_address(url, TOKEN), "this-machine")
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_again: Open) -> Store:
    return await open_again()
