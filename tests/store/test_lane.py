"""What is relied on of aiosqlite, private names included: see `store/sqlite/lane.py`."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import anyio
import pytest

from pinfold.store.sqlite.lane import Lane
from tests.store.children import ended

pytestmark = pytest.mark.anyio

UNCLOSED = """
import sys
from pathlib import Path
import anyio
from pinfold.store.sqlite.store import open_store

kept = []

async def main():
    kept.append(await open_store(Path(sys.argv[1]), "demo"))
    print((await kept[0].status()).events, flush=True)

anyio.run(main)
"""


def _connect() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.execute("CREATE TABLE kept (number INTEGER)")
    return db


def _count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM kept").fetchone()[0])


@pytest.mark.parametrize("scoped", [True, False])
async def test_work_whose_caller_was_cancelled_runs_to_its_end(*, scoped: bool) -> None:
    lane = await Lane.open(_connect)
    begun, go_on = threading.Event(), threading.Event()

    def work(db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO kept VALUES (1)")
        begun.set()
        assert go_on.wait(10)
        db.execute("INSERT INTO kept VALUES (2)")
        db.execute("COMMIT")

    if scoped:
        async with anyio.create_task_group() as group:
            group.start_soon(lane.run, work)
            assert await anyio.to_thread.run_sync(begun.wait, 10)
            group.cancel_scope.cancel()
    else:
        task = asyncio.ensure_future(lane.run(work))
        assert await anyio.to_thread.run_sync(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    go_on.set()
    assert await lane.run(_count) == 2
    assert await lane.run(lambda db: db.in_transaction) is False
    await lane.close()


async def test_work_that_fails_tells_its_caller_and_the_lane_goes_on() -> None:
    lane = await Lane.open(_connect)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await lane.run(lambda db: db.execute("SELECT * FROM absent"))
    assert await lane.run(_count) == 0
    await lane.close()


async def test_work_runs_in_the_order_it_was_handed_over_on_one_daemon_thread() -> None:
    lane = await Lane.open(_connect)
    order: list[int] = []
    threads: set[tuple[int, bool]] = set()

    def work(number: int) -> None:
        order.append(number)
        threads.add((threading.get_ident(), threading.current_thread().daemon))

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(lane.run, lambda _, number=number: work(number))
    await lane.close()
    assert order == list(range(50))
    assert [daemon for _, daemon in threads] == [True]
    assert threading.get_ident() not in {thread for thread, _ in threads}


async def test_a_connection_that_cannot_be_made_leaves_no_thread() -> None:
    def refuse() -> sqlite3.Connection:
        raise sqlite3.OperationalError("refused")

    before = set(threading.enumerate())
    with pytest.raises(sqlite3.OperationalError, match="refused"):
        await Lane.open(refuse)
    for thread in set(threading.enumerate()) - before:
        await anyio.to_thread.run_sync(thread.join, 10)
        assert not thread.is_alive() or thread.name.startswith("AnyIO")


def test_a_process_that_never_closed_its_store_ends_by_itself(tmp_path: Path) -> None:
    outcome = ended(UNCLOSED, tmp_path / "store")
    assert (outcome.stdout, outcome.returncode) == ("0\n", 0)
