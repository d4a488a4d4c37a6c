"""Verify, rebuild and scrub of a project in a database."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import anyio
import psycopg
import pytest

from pinfold.store.forgetting import Forget
from pinfold.store.postgres.store import PostgresStore, open_store
from pinfold.store.sql.transaction import Transaction
from tests.contract.acts import ANNA, find, pin, say, spill
from tests.postgres import shared

pytestmark = pytest.mark.anyio

CHANGED = {
    "UPDATE event SET body = replace(body, 'walrus', 'quokka') WHERE seq = 2": "event 2: its body was changed",
    "DELETE FROM event WHERE seq = 2": "event 2: missing",
    "UPDATE pin SET text = 'another'": "view pin: it differs from the log",
    "DELETE FROM conversation": "view conversation: it differs from the log",
    "UPDATE posting SET entries = '{7}' WHERE token = 'walru'": "search index: it differs from the log",
    "UPDATE words SET body = ' nothing ' WHERE id = 1": "search index: it differs from the log",
    "UPDATE chunk SET packed = '\\x00'": "the chunk at byte 0 is damaged",
    "DELETE FROM content": "A1: its bytes are missing",
}


async def _filled(address: str) -> PostgresStore:
    store = await open_store(address, "")
    await say(store, "a walrus was said")
    await pin(store, "a walrus is pinned")
    await spill(store, b"a walrus is spilled\n" * 99)
    return store


def _execute(statement: str, tx: Transaction) -> None:
    tx.db.execute(statement)


@pytest.mark.parametrize("change", CHANGED)
async def test_verify_names_what_was_changed_past_the_store(address: str, change: str) -> None:
    store = await _filled(address)
    report = await store.verify(receipts=[(await pin(store, "last")).receipt])
    assert (report.problems, report.events, report.artifacts, len(report.held)) == ((), 5, 1, 1)
    await store._writer.write(partial(_execute, change))
    problems = (await store.verify()).problems
    assert any(CHANGED[change] in problem for problem in problems), problems
    await store.close()


async def test_a_rebuild_mends_views_and_index(address: str) -> None:
    store = await _filled(address)
    for change, named in CHANGED.items():
        if "differs" in named:
            await store._writer.write(partial(_execute, change))
    assert set(await store.stale_views()) == {"view pin", "view conversation", "search index"}
    assert await store.rebuild() == 4
    assert await store.stale_views() == ()
    assert (await find(store, "walrus pinned")).hits[0].pointer == "P1"
    await store.close()


async def test_verifying_keeps_nobody_from_writing_and_changes_nothing(address: str) -> None:
    store, other = await _filled(address), await open_store(address, "", 1.0)
    begun, written = threading.Event(), threading.Event()
    found: list[tuple[str, ...]] = []

    def progress(_done: int, _total: int) -> None:
        begun.set()
        assert written.wait(30)

    async def look() -> None:
        found.append((await store.verify(progress)).problems)

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        assert await anyio.to_thread.run_sync(begun.wait, 30)
        assert (await pin(other, "meanwhile")).pin.number == 2
        written.set()
    assert found == [()]
    assert (await store.verify()).events == 5
    await store.close()
    await other.close()


def _holds(superuser: str, needle: bytes) -> bool:
    """Whether a file of the database's tables holds the bytes, once what is in memory is written."""
    with psycopg.connect(superuser, autocommit=True) as db:
        db.execute("CHECKPOINT")
        row = db.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    folder = Path(row[0]) / "base" / str(row[1])
    try:
        return any(needle in file.read_bytes() for file in folder.iterdir() if file.is_file())
    except OSError:
        pytest.skip("the server's files lie elsewhere")


async def test_after_a_scrub_no_page_of_a_table_holds_what_was_forgotten(blank: str, superuser: str) -> None:
    store = await _filled(f"{blank}#demo")
    superuser = superuser.rpartition("/")[0] + "/" + blank.rpartition("/")[2]
    needle = "zyzzyvafalcon"
    await pin(store, f"the {needle} is to go")
    assert _holds(superuser, needle.encode())
    await store.forget(Forget(ANNA, match=needle))
    assert _holds(superuser, needle.encode())  # in rows that no statement shows any more
    scrubbed = await store.scrub()
    assert scrubbed.owed is None
    assert not _holds(superuser, needle.encode())
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_scrub_is_owed_as_long_as_somebody_may_still_see_what_went(blank: str) -> None:
    store = await _filled(f"{blank}#demo")
    with psycopg.connect(blank) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1")  # a snapshot, from before
        await store.forget(Forget(ANNA, match="walrus is pinned"))
        assert "somebody is reading" in ((await store.scrub()).owed or "")
    assert (await store.scrub()).owed is None
    await store.close()


async def test_who_does_not_own_the_tables_is_told_that_the_scrub_is_still_owed(
    called: str, address: str
) -> None:
    store = await open_store(called, address.partition("#")[2])
    await pin(store, "to go")
    await store.forget(Forget(ANNA, match="to go"))
    assert "only the owner of the tables" in ((await store.scrub()).owed or "")
    assert shared.CALLER in called
    await store.close()
