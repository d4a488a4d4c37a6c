"""Fixtures of the contract suite: `store` is empty, once per backend; `open_again` opens it anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pinfold.store import Store
from pinfold.store.sqlite.store import open_store

Open = Callable[[], Awaitable[Store]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sqlite"])
async def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    opened: list[Store] = []

    async def open_one() -> Store:
        store = await open_store(tmp_path / "store", "demo")
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_again: Open) -> Store:
    return await open_again()
