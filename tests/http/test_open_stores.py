"""The stores that a server holds open: one for each project, closed when idle, and opened again."""

from __future__ import annotations

import math
from pathlib import Path

import anyio
import pytest

from pinfold.server.http.open_stores import OpenStores
from pinfold.store import Store
from pinfold.store.errors import BusyError
from pinfold.store.sqlite.store import open_store

pytestmark = pytest.mark.anyio
ALWAYS = math.inf


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class _Projects:
    """Opens real stores and counts how often."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.opened: list[str] = []
        self.fails = False

    async def open(self, project: str) -> Store:
        if self.fails:
            raise BusyError(10, "another")
        self.opened.append(project)
        return await open_store(self._folder / project, project)


@pytest.fixture
def projects(tmp_path: Path) -> _Projects:
    return _Projects(tmp_path)


async def test_all_requests_to_a_project_share_one_store(projects: _Projects) -> None:
    stores, found = OpenStores(projects.open), []

    async def visit() -> None:
        async with stores.at("shop") as opened:
            found.append(await opened())

    async with anyio.create_task_group() as many:
        for _ in range(20):
            many.start_soon(visit)
    assert projects.opened == ["shop"]
    assert len(set(map(id, found))) == 1
    await stores.close()


async def test_nothing_is_opened_for_who_asks_for_no_store(projects: _Projects) -> None:
    stores = OpenStores(projects.open)
    async with stores.at("shop"):
        pass
    assert projects.opened == []


async def test_an_idle_store_is_closed_and_one_in_use_is_not(projects: _Projects, tmp_path: Path) -> None:
    stores = OpenStores(projects.open)
    async with stores.at("shop") as opened, stores.at("web") as other:
        await other()
        await opened()
        await stores.close_idle(ALWAYS)
        assert (await opened()).project == "shop"
    assert projects.opened == ["web", "shop"]
    await stores.close_idle(ALWAYS)
    assert not (tmp_path / "shop" / "log.db-wal").exists()  # a store that is closed has none
    async with stores.at("shop") as opened:
        assert (await (await opened()).status()).project == "shop"
    assert projects.opened == ["web", "shop", "shop"]
    await stores.close()


async def test_of_many_projects_those_used_last_stay_open_and_none_in_use_is_closed(
    projects: _Projects, tmp_path: Path
) -> None:
    stores = OpenStores(projects.open, most_open=2)

    async def visit(name: str) -> None:
        async with stores.at(name) as opened:
            assert (await (await opened()).status()).project == name

    def are_open() -> set[str]:
        return {path.parent.name for path in tmp_path.glob("*/log.db-wal")}  # a store that is closed has none

    for name in ("a", "b", "c"):
        await visit(name)
    assert are_open() == {"b", "c"}
    async with stores.at("a") as first, stores.at("b") as second:
        held = [await first(), await second()]
        await visit("d")
        assert are_open() == {"a", "b", "d"}
        assert [(await store.status()).project for store in held] == ["a", "b"]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as many:
            for number in range(30):
                many.start_soon(visit, f"p{number % 10}")
    await stores.close()
    assert are_open() == set()


async def test_a_store_that_could_not_be_opened_is_tried_again(projects: _Projects) -> None:
    stores = OpenStores(projects.open)
    projects.fails = True
    async with stores.at("shop") as opened:
        with pytest.raises(BusyError):
            await opened()
        projects.fails = False
        assert (await opened()).project == "shop"
    await stores.close()


async def test_idle_stores_are_looked_for_by_themselves(projects: _Projects, tmp_path: Path) -> None:
    stores = OpenStores(projects.open, idle_s=0.02)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stores.tidy)
            async with stores.at("shop") as opened:
                await opened()
            while (tmp_path / "shop" / "log.db-wal").exists():  # noqa: ASYNC110 - a file is waited for
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    await stores.close()
