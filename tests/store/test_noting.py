"""A note is never worth a failure or a wait: the answer that it goes with comes as it is."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing

import anyio
import pytest

from pinfold.store import Store
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Pointer, PointerKind
from tests.contract.acts import ANNA, find, say

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P10")]


async def _miss_and_look_again(store: Store) -> Pointer:
    (answer,) = await say(store, "Staging listens on 8443.")
    assert (await find(store, "rehearsal door")).hits == ()
    assert [hit.pointer for hit in (await find(store, "staging")).hits] == [answer]
    return Pointer(PointerKind.ENTRY, int(answer[1:]))


async def _answers(store: Store) -> list[str | None]:
    return [miss.answer for miss in await store.misses(None, 9)]


@pytest.mark.parametrize("hits", ["{", "7", "[7]"])
async def test_a_damaged_miss_fails_nothing_that_is_opened(place: Place, hits: str) -> None:
    store = await open_store(place.folder, "demo")
    opened = await _miss_and_look_again(store)
    with closing(sqlite3.connect(place.database)) as db, db:
        assert db.execute("UPDATE miss SET hits = ?", (hits,)).rowcount == 1
    await store.note_opened(ANNA, opened)
    await store.close()


async def test_what_is_opened_and_found_does_not_wait_behind_a_long_write_of_this_process(
    place: Place,
) -> None:
    store = await open_store(place.folder, "demo")
    opened = await _miss_and_look_again(store)
    begun, enough = threading.Event(), threading.Event()

    def write(_: Transaction) -> None:
        begun.set()
        assert enough.wait(30)

    async with anyio.create_task_group() as group:
        group.start_soon(store._writer.write, write)
        assert await anyio.to_thread.run_sync(begun.wait, 30)
        asked = time.monotonic()
        with anyio.move_on_after(10):
            await store.note_opened(ANNA, opened)
            page = await find(store, "staging")
        waited = time.monotonic() - asked
        enough.set()
    assert waited < 5, f"waited {waited:.1f} s"
    assert ([hit.pointer for hit in page.hits], page.pointer) == ([str(opened)], None)
    assert await _answers(store) == [None]
    await store.note_opened(ANNA, opened)
    assert await _answers(store) == [str(opened)]
    await store.close()
