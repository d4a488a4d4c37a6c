"""The writer among others: what it says and how long it waits when the store is locked."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing

import anyio
import pytest

from pinfold.store import Store
from pinfold.store.errors import BusyError
from pinfold.store.events import Kind
from pinfold.store.sql.transaction import Draft, Transaction
from pinfold.store.sqlite import opening
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import SqliteStore, open_store
from tests.contract.acts import find, pin
from tests.store.children import child, ended, line_of, tell
from tests.store.test_gate import HOLDER

pytestmark = pytest.mark.anyio

NORMAL, EXTRA = 1, 3


async def test_calls_that_queue_in_one_process_are_busy_together_and_then_served(place: Place) -> None:
    store = await open_store(place.folder, "demo", wait_s=0.5)
    told: list[str] = []

    async def attempt(n: int) -> None:
        with pytest.raises(BusyError) as busy:
            await pin(store, f"decision {n}")
        told.append(busy.value.holder)

    with child(HOLDER, place.lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        begun = time.monotonic()
        async with anyio.create_task_group() as group:
            for n in range(5):
                group.start_soon(attempt, n)
        assert time.monotonic() - begun < 5 * 0.5
        assert (await store.status()).live_pins == 0
        assert told == [f"pid {holder.pid}"] * 5
        tell(holder)
        assert line_of(holder) == "free"
    assert (await pin(store, "decision 0")).pin.number == 1
    await store.close()


async def test_a_close_does_not_wait_for_a_process_that_does_not_move(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await pin(store, "kept")
    with child(HOLDER, place.lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        begun = time.monotonic()
        await store.close()
        assert time.monotonic() - begun < 3
    await _check_kept(place)


async def test_a_search_does_not_wait_for_a_process_that_does_not_move(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await pin(store, "the cache lives in Redis")
    with child(HOLDER, place.lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        begun = time.monotonic()
        page = await find(store, "redis")
        assert time.monotonic() - begun < 5
        assert ([hit.pointer for hit in page.hits], page.pointer) == (["P1"], None)
    await store.close()


async def _check_kept(place: Place) -> None:
    again = await open_store(place.folder, "demo")
    assert (await again.pin(1)).pin.text == "kept"
    assert (await again.verify()).problems == ()
    await again.close()


async def _hasten(store: Store) -> None:
    """Let SQLite itself wait for 50 ms only."""
    await store._writer.write(lambda tx: tx.db.execute("PRAGMA busy_timeout = 50").fetchall())  # type: ignore[attr-defined]


async def test_a_program_that_passes_by_the_lock_is_waited_for_and_named_as_such(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await _hasten(store)
    with closing(sqlite3.connect(place.database, isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="does not queue for the store's lock"):
            await pin(store, "later")
        stranger.execute("ROLLBACK")
    assert (await pin(store, "now")).pin.number == 1
    await store.close()


async def test_a_long_reader_elsewhere_stops_nobody_from_writing(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await pin(store, "before")
    with closing(sqlite3.connect(place.database, isolation_level=None)) as stranger:
        stranger.execute("BEGIN")
        assert stranger.execute("SELECT count(*) FROM pin").fetchone() == (1,)
        for n in range(20):
            await pin(store, f"decision {n}")
        assert stranger.execute("SELECT count(*) FROM pin").fetchone() == (1,)
        stranger.execute("COMMIT")
    assert (await store.status()).live_pins == 21
    await store.close()


async def _how_safely(store: SqliteStore) -> tuple[int, int]:
    """Return SQLite's `synchronous` while a note is written, and while an event is."""

    def look(tx: Transaction) -> int:
        return int(tx.db.execute("PRAGMA synchronous").fetchone()[0])

    return await store._writer.note(look), await store._writer.write(look)


async def test_a_note_does_not_wait_for_the_disk_where_that_cannot_damage_the_file(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(place.folder, "demo")
    assert await _how_safely(store) == (NORMAL, EXTRA)
    await store.close()
    monkeypatch.setattr(opening, "can_carry_wal", lambda _: False)
    elsewhere = await open_store(place.folder.with_name("elsewhere"), "demo")
    assert await _how_safely(elsewhere) == (EXTRA, EXTRA)
    await elsewhere.close()


PINNING = """
import sys
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

async def main():
    store = await open_store(Path(sys.argv[1]), "demo")
    await store.pin_decision(PinDecision(Caller("test", "elsewhere"), sys.argv[2], "measured"))
    await store.close()

anyio.run(main)
"""


async def test_a_store_opened_twice_in_one_process_loses_nothing_to_another_process(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await pin(store, "one")
    again = await open_store(place.folder, "demo")
    for here, elsewhere in (("three", "two"), ("five", "four")):
        run = ended(PINNING, place.folder, elsewhere)
        assert run.returncode == 0, run.stderr
        await pin(store, here)
    assert [found.text for found in await again.pins(None, 10)] == ["five", "four", "three", "two", "one"]
    assert (await store.verify()).problems == ()
    await store.close()
    await again.close()


async def test_a_verb_that_fails_after_it_wrote_leaves_nothing_behind(place: Place) -> None:
    store = await open_store(place.folder, "demo")

    def fail(tx: Transaction) -> None:
        tx.append(Draft(Kind.SEARCH_MISSED, {"search": 1, "query": "q", "hits": [], "why": "x"}, 0, "agent"))
        raise ValueError("on purpose")

    for _ in range(2):  # the second finds no transaction that the first one left open
        with pytest.raises(ValueError, match="on purpose"):
            await store._writer.write(fail)
    assert (await store.status()).events == 0
    assert (await pin(store, "now")).receipt.seq == 2  # behind the start of its session
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_program_that_passes_by_the_lock_for_a_moment_only_delays(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(place.folder, "demo")
    stranger = sqlite3.connect(place.database, isolation_level=None, check_same_thread=False)
    stranger.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, stranger.execute, ("ROLLBACK",))
    monkeypatch.setattr(store._writer._pen, "_check_file", release.start)  # the last thing before BEGIN
    assert (await pin(store, "later")).pin.number == 1
    release.join()
    stranger.close()
    await store.close()
