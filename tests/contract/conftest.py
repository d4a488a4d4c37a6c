"""Fixtures of the contract suite: `store` is empty, once per backend; `open_again` opens it anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import pytest

from pinfold.store import Store
from pinfold.store.sqlite.store import open_store
from tests.postgres import shared

Open = Callable[[], Awaitable[Store]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite", "postgres"])
async def open_again(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Open]:
    opened: list[Store] = []
    open_one = _in_file(tmp_path) if request.param == "sqlite" else _in_database(tmp_path_factory)

    async def open_it() -> Store:
        opened.append(await open_one())
        return opened[-1]

    yield open_it
    for store in opened:
        await store.close()


def _in_file(folder: Path) -> Open:
    return lambda: open_store(folder / "store", "demo")


def _in_database(places: pytest.TempPathFactory) -> Open:
    address, project = shared.database(shared.run_folder(places)), uuid4().hex
    from pinfold.store.postgres.store import open_store as open_project

    return lambda: open_project(address, project)


@pytest.fixture
async def store(open_again: Open) -> Store:
    return await open_again()
