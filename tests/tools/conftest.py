"""Fixtures of the tool tests: a real store, a project folder, and `call` as a client would make it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pinfold.store import Store
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from pinfold.tools import Desk, Reply, call
from pinfold.tools.files import Roots

Call = Callable[..., Awaitable[Reply]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "demo"
    made.mkdir()
    return made


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "store", "demo")
    yield opened
    await opened.close()


@pytest.fixture
def desk(store: Store, folder: Path) -> Desk:
    caller = Caller("claude-code", "anna", head="0123456789abcdef", branch="main")
    return Desk(store, caller, Roots([folder]))


@pytest.fixture
def tool(desk: Desk) -> Call:
    async def made(name: str, /, **arguments: object) -> Reply:
        return await call(desk, name, arguments)

    return made
