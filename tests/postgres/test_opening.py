"""Opening: the schema is made once, by whoever is first; a newer one is read; no password in anything that is said."""

from __future__ import annotations

import traceback
from uuid import uuid4

import anyio
import pytest

pytest.importorskip("psycopg")
import psycopg

from pinfold.store.errors import InvalidInputError, PinfoldError, ReadOnlyError, UnreachableError
from pinfold.store.postgres import opening
from pinfold.store.postgres.address import read_address
from pinfold.store.postgres.store import PostgresStore, open_store
from pinfold.store.sqlite import connection
from pinfold.store.sqlite.connection import SCHEMA_VERSION
from pinfold.store.sqlite.schema import statements
from pinfold.store.sqlite.upgrading import STEPS
from tests.contract.acts import find, pin
from tests.postgres import shared
from tests.postgres.cluster import PASSWORD

pytestmark = pytest.mark.anyio


def _columns(address: str) -> dict[str, list[str]]:
    with psycopg.connect(address) as db:
        rows = db.execute(
            "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) FROM information_schema.columns"
            " WHERE table_schema = 'pinfold' GROUP BY table_name"
        )
        return dict(rows.fetchall())


async def test_many_processes_that_begin_at_once_make_one_schema_and_one_project(blank: str) -> None:
    stores: list[PostgresStore] = []

    async def open_one() -> None:
        stores.append(await open_store(blank, "demo"))

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(open_one)
    assert len({store._project for store in stores}) == 1
    assert len({store.fence("text") for store in stores}) == 1  # one secret
    for store in stores:
        await store.close()


async def test_the_tables_are_those_of_the_one_schema(blank: str) -> None:
    import sqlite3

    await (await open_store(blank, "demo")).close()
    found = _columns(blank)
    with sqlite3.connect(":memory:") as db:
        for statement in statements():
            db.execute(statement)
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        expected = {
            name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            for name in names
            if not name.startswith("words")
        }
    assert {name: found[name] for name in expected} == {
        name: [*columns, "project"] for name, columns in expected.items()
    }


async def test_a_store_of_a_newer_pinfold_is_read_and_not_written(blank: str) -> None:
    store = await open_store(blank, "demo")
    await pin(store, "from before")
    with psycopg.connect(blank) as db:
        db.execute("UPDATE pinfold.schema_version SET version = version + 1")
    with pytest.raises(ReadOnlyError, match="a newer pinfold wrote it"):
        await pin(store, "while it was open")
    again = await open_store(blank, "demo")
    with pytest.raises(ReadOnlyError, match=r"a newer pinfold wrote it \(schema \d+, this one knows \d+\)"):
        await pin(again, "afterwards")
    assert [each.text for each in await again.pins(None, 9)] == ["from before"]
    assert (await find(again, "before")).hits[0].pointer == "P1"
    with pytest.raises(ReadOnlyError, match="no such project"):
        await open_store(blank, "another")
    await store.close()
    await again.close()


async def test_the_steps_to_a_newer_schema_are_taken_in_one_transaction_or_not_at_all(
    blank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await open_store(blank, "demo")).close()
    newer = SCHEMA_VERSION + 1
    steps = ("ALTER TABLE pin ADD COLUMN hue TEXT NOT NULL DEFAULT 'red'", "CREATE TABLE broken (")
    for module in (opening, connection):
        monkeypatch.setattr(module, "SCHEMA_VERSION", newer)
    monkeypatch.setitem(STEPS, newer, steps)
    before = _columns(blank)
    with pytest.raises(psycopg.errors.SyntaxError):
        await open_store(blank, "demo")
    assert _columns(blank) == before
    new = "CREATE TABLE hue (name TEXT PRIMARY KEY, pin INTEGER NOT NULL) STRICT, WITHOUT ROWID"
    monkeypatch.setitem(STEPS, newer, (steps[0], new))
    store = await open_store(blank, "demo")
    assert (await pin(store, "in the newer one")).pin.number == 1
    assert _columns(blank) == before | {"pin": [*before["pin"], "hue"], "hue": ["name", "pin", "project"]}
    await store.close()


async def test_a_role_that_may_make_nothing_is_told_who_can(superuser: str) -> None:
    name = f"closed_{uuid4().hex}"
    with psycopg.connect(superuser, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
        closed = shared.as_role(superuser, shared.OWNER, name)
        with pytest.raises(ReadOnlyError, match=r"may not do.*GRANT CREATE ON DATABASE"):
            await open_store(closed, "demo")
        db.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_an_address_names_the_project_and_shows_no_password() -> None:
    read = read_address("postgresql://me:s3cret@db.example:6543/work#a%20team", "folder")
    assert (read.project, read.shown) == ("a team", "db.example:6543/work")
    assert read_address("postgresql://db.example/work", "folder").project == "folder"
    assert "s3cret" not in repr(read)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda address: address.replace(PASSWORD, f"{PASSWORD}-wrong"), UnreachableError),
        (lambda address: address.rpartition(":")[0] + ":1/nowhere", UnreachableError),
        (lambda address: address + "?no_such_option=1", InvalidInputError),
        (lambda address: address.replace("@127", "@@[127"), PinfoldError),
    ],
    ids=["wrong password", "nobody there", "unknown option", "no address"],
)
async def test_no_error_says_the_password(owner: str, change: object, error: type[PinfoldError]) -> None:
    assert callable(change)
    with pytest.raises(error) as told:
        await open_store(change(owner), "demo")
    assert PASSWORD not in "".join(traceback.format_exception(told.value))
