"""Fixtures of the contract suite: `store` is empty, once per backend; `open_again` opens it anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from pinfold.store import Store
from pinfold.store.remote.address import read_address
from pinfold.store.remote.store import open_remote
from pinfold.store.sqlite.store import open_store
from tests.http.serving import Served, served
from tests.postgres import shared

Open = Callable[[], Awaitable[Store]]

OFTEN_OVER_HTTP = frozenset(
    {
        "test_a_scan_visits_every_byte_until_it_is_told_to_stop",
        "test_a_checkpoint_says_what_opened_closed_and_stayed",
        "test_a_fold_is_read_back_as_it_was_recorded",
        "test_a_mark_is_kept_with_the_messages_up_to_it",
        "test_what_a_message_brings_along_is_stored_once_and_named_behind_its_text",
        "test_a_forgotten_pin_is_gone_from_every_answer_and_says_when_it_went",
        "test_a_receipt_holds_only_for_the_log_that_gave_it",
        "test_many_tasks_on_one_store_each_get_their_own_number",
        "test_the_same_miss_does_not_happen_twice",
        "test_the_same_key_gives_the_first_result_and_other_arguments_conflict",
        "test_after_a_clear_the_server_of_before_writes_into_the_new_conversation",
    }
)
"""What goes over the wire in every run, each kind of verb once; all other tests do in the long tier."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            over_http = item.callspec.params.get("open_again") == "http"
            if over_http and item.originalname not in OFTEN_OVER_HTTP:
                item.add_marker(pytest.mark.full)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A team's server, for all tests: each has a project of its own there."""
    with served(tmp_path_factory.mktemp("team")) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres", "http"])
async def open_again(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Open]:
    opened: list[Store] = []
    if request.param == "sqlite":
        open_one = _in_file(tmp_path)
    elif request.param == "postgres":
        open_one = _in_database(tmp_path_factory)
    else:
        open_one = _on_a_server(request.getfixturevalue("server"), tmp_path.name)

    async def open_it() -> Store:
        opened.append(await open_one())
        return opened[-1]

    yield open_it
    for store in opened:
        await store.close()


def _in_file(folder: Path) -> Open:
    return lambda: open_store(folder / "store", "demo")


def _on_a_server(server: Served, project: str) -> Open:
    address = read_address(f"http://127.0.0.1:{server.port}/p/{project}", server.token(project, project))
    return lambda: open_remote(address, "this-machine")


def _in_database(places: pytest.TempPathFactory) -> Open:
    address, project = shared.database(shared.run_folder(places)), uuid4().hex
    from pinfold.store.postgres.store import open_store as open_project

    return lambda: open_project(address, project)


@pytest.fixture
async def store(open_again: Open) -> Store:
    return await open_again()
