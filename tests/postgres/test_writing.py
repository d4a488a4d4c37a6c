"""Writes of many processes, waits, and connections that are cut: one log per project, without gaps."""

from __future__ import annotations

import anyio
import pytest

pytest.importorskip("psycopg")
import psycopg

from pinfold.store.errors import BusyError, InvalidInputError, UnknownOutcomeError, UnreachableError
from pinfold.store.postgres.store import PostgresStore, open_store
from pinfold.store.sql.transaction import Transaction
from tests.contract.acts import pin
from tests.postgres.proxy import Moment, Proxy

pytestmark = pytest.mark.anyio


async def test_numbers_of_many_writers_have_no_gap_and_follow_the_order_of_commits(address: str) -> None:
    stores = [await open_store(address, "") for _ in range(4)]
    receipts: list[int] = []

    async def write(store: PostgresStore, who: int) -> None:
        for n in range(6):
            kept = await pin(store, f"decision {n} of writer {who}", key=f"{who}-{n}")
            receipts.append(kept.receipt.seq)

    async with anyio.create_task_group() as group:
        for who, store in enumerate(stores):
            group.start_soon(write, store, who)
    events = await stores[0].logged(0)
    assert [event.seq for event in events] == [*range(1, 26)]  # the session's start, and 24 pins
    assert sorted(receipts) == [*range(2, 26)]
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert (await stores[0].verify()).problems == ()
    for store in stores:
        await store.close()


async def test_a_write_waits_for_another_of_its_project_only_and_says_that_it_was_busy(
    address: str, owner: str
) -> None:
    store, other = await open_store(address, "", 0.3), await open_store(owner, f"{address[-8:]}-other", 0.3)
    await pin(store, "before")
    with psycopg.connect(owner) as holder:
        holder.execute("SELECT set_config('pinfold.project', %s, true)", (str(store._project),))
        assert holder.execute("SELECT 1 FROM pinfold.project FOR UPDATE").fetchone() == (1,)
        with pytest.raises(
            BusyError, match=r"another process that writes to this project.*nothing was written"
        ):
            await pin(store, "too late")
        assert (await pin(other, "in another project")).pin.number == 1
        assert [each.text for each in await store.pins(None, 9)] == ["before"]  # reads wait for nobody
    assert (await pin(store, "after")).pin.number == 2
    await store.close()
    await other.close()


@pytest.mark.parametrize(("moment", "is_there"), [("unheard", False), ("unanswered", True)])
async def test_a_commit_whose_answer_is_lost_is_unknown_and_the_same_key_finds_out(
    address: str, proxy: Proxy, moment: Moment, is_there: bool
) -> None:
    store = await open_store(proxy.address, address.partition("#")[2])
    await pin(store, "first", key="a")
    proxy.cut_at(b"COMMIT", moment)
    with pytest.raises(UnknownOutcomeError, match="the connection to the database broke"):
        await pin(store, "second", key="b")
    assert proxy.cuts == 1
    again = await pin(store, "second", key="b")
    assert (again.pin.number, again.repeated) == (2, is_there)
    assert [event.seq for event in await store.logged(0)] == [1, 2, 3]
    await store.close()


async def test_a_connection_that_is_cut_before_the_commit_leaves_nothing(address: str, proxy: Proxy) -> None:
    store = await open_store(proxy.address, address.partition("#")[2])
    await pin(store, "first")
    proxy.cut_at(b"INSERT INTO posting", "unanswered")
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:\d+/pinfold_tests.*nothing was written"):
        await pin(store, "second")
    assert proxy.cuts == 1
    assert [each.text for each in await store.pins(None, 9)] == ["first"]
    assert (await pin(store, "third")).receipt.seq == 3
    await store.close()


async def test_what_was_lost_between_two_calls_is_no_callers_concern(address: str, superuser: str) -> None:
    store = await open_store(address, "")
    await pin(store, "first")
    await store.pins(None, 9)
    with psycopg.connect(superuser, autocommit=True) as db:
        ended = db.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query = 'COMMIT' OR query = 'ROLLBACK'"
        ).fetchone()
    assert ended is not None
    assert ended[0] >= 2
    assert (await pin(store, "second")).pin.number == 2
    assert len(await store.pins(None, 9)) == 2
    await store.close()


async def test_a_transaction_that_failed_inside_is_never_taken_for_a_commit(address: str) -> None:
    store = await open_store(address, "")

    def swallow(tx: Transaction) -> str:
        with pytest.raises(psycopg.errors.UndefinedTable):
            tx.db.execute("SELECT * FROM nowhere")
        return "done"

    with pytest.raises(RuntimeError, match="rolled back"):
        await store._writer.write(swallow)
    await store.close()


async def test_a_read_that_takes_too_long_is_stopped(address: str) -> None:
    store = await open_store(address, "")
    with anyio.fail_after(10), pytest.raises(InvalidInputError, match="took too long"):
        await store._reader.read(lambda db: db.execute("SELECT pg_sleep(60)").fetchone(), 0.2)
    assert await store.pins(None, 9) == ()
    await store.close()
