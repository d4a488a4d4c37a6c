from __future__ import annotations

import threading
from collections.abc import AsyncIterator

import anyio
import pytest

from pinfold.store.errors import InvalidInputError, ReadOnlyError
from pinfold.store.sql.database import Database
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.reader import Reader
from pinfold.store.sqlite.store import open_store

pytestmark = pytest.mark.anyio

COUNTING = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n {limit}) SELECT count(*) FROM n"
LONG = COUNTING.format(limit="LIMIT 15000000")
SHORT = COUNTING.format(limit="LIMIT 200000")


@pytest.fixture
async def reader(place: Place) -> AsyncIterator[Reader]:
    store = await open_store(place.folder, "demo")
    made = Reader(place)
    await made.open()
    yield made
    await made.close()
    await store.close()


async def test_a_read_that_takes_too_long_is_stopped_and_the_next_one_served(reader: Reader) -> None:
    with pytest.raises(InvalidInputError, match="took too long"):
        await reader.read(lambda db: db.execute(LONG).fetchone(), limit_s=0.05)
    assert await reader.read(lambda db: db.execute("SELECT 1").fetchone()[0]) == 1


async def test_a_cancelled_read_stops_at_once(reader: Reader) -> None:
    begun = threading.Event()

    def count(db: Database) -> None:
        begun.set()
        db.execute(LONG).fetchone()

    async with anyio.create_task_group() as group:
        group.start_soon(reader.read, count, None)
        assert await anyio.to_thread.run_sync(begun.wait, 10)
        group.cancel_scope.cancel()
    with anyio.fail_after(5):
        assert await reader.read(lambda db: db.execute("SELECT 1").fetchone()[0]) == 1


async def test_cancelling_a_read_in_the_queue_leaves_the_running_one_alone(reader: Reader) -> None:
    begun, go_on = threading.Event(), threading.Event()
    found: list[int] = []

    def count(db: Database) -> int:
        rows = db.execute(SHORT)
        begun.set()
        assert go_on.wait(10)
        return int(rows.fetchone()[0]) + int(db.execute(SHORT).fetchone()[0])

    async def first() -> None:
        found.append(await reader.read(count))

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        assert await anyio.to_thread.run_sync(begun.wait, 10)
        async with anyio.create_task_group() as second:
            second.start_soon(reader.read, lambda db: db.execute(SHORT).fetchone())
            await anyio.lowlevel.checkpoint()
            second.cancel_scope.cancel()
        go_on.set()
    assert found == [400_000]


async def test_a_reading_connection_cannot_write(reader: Reader) -> None:
    with pytest.raises(ReadOnlyError):
        await reader.read(lambda db: db.execute("DELETE FROM meta"))
