"""Many projects in one database: none sees another's rows, whatever it asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("psycopg")
import psycopg

from pinfold.store.errors import InvalidInputError, ReadOnlyError
from pinfold.store.postgres.store import PostgresStore, open_store
from pinfold.store.sql.database import Database
from tests.contract.acts import checkpoint, find, pin, say, spill
from tests.postgres import shared

pytestmark = pytest.mark.anyio


async def _fill(address: str, word: str) -> PostgresStore:
    store = await open_store(address, f"{word}-{uuid4().hex}")
    await say(store, f"{word} was said")
    await pin(store, f"{word} is pinned", files=(f"src/{word}.py",))
    await spill(store, f"{word} is spilled\n".encode() * 50, label=word)
    await checkpoint(store, goal=word)
    await find(store, f"{word} or what nobody said")
    await find(store, "nowhere at all")
    return store


@pytest.fixture
async def two(called: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    ours, theirs = await _fill(called, "walrus"), await _fill(called, "quokka")
    yield ours, theirs
    await ours.close()
    await theirs.close()


def _tables(db: Database) -> list[str]:
    rows = db.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pinfold'::regnamespace AND relkind = 'r'"
    )
    return sorted(row[0] for row in rows.fetchall())


async def test_a_statement_that_asks_for_every_row_gets_those_of_its_project(
    two: tuple[PostgresStore, PostgresStore],
) -> None:
    ours, theirs = two

    def everything(db: Database) -> tuple[dict[str, int], str]:
        rows = {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in _tables(db)}
        return {table: len(found) for table, found in rows.items()}, repr(rows)

    counts, seen = await ours._reader.read(everything)
    _, seen_by_them = await theirs._reader.read(everything)
    filled = ("event", "pin", "artifact", "content", "chunk", "entry", "words", "posting", "search", "miss")
    assert all(counts[table] for table in filled), counts
    assert counts["project"] == 1
    assert ("walrus" in seen, "quokka" in seen) == (True, False)
    assert ("walrus" in seen_by_them, "quokka" in seen_by_them) == (False, True)


async def test_the_role_that_a_store_works_as_owns_nothing_and_is_no_superuser(
    two: tuple[PostgresStore, PostgresStore],
) -> None:
    def who(db: Database) -> Any:
        return tuple(
            db.execute(
                "SELECT current_user::text, rolsuper, rolbypassrls, (SELECT count(*) FROM pg_class"
                " WHERE relowner = pg_roles.oid) FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
        )

    assert await two[0]._reader.read(who) == (shared.CALLER, False, False, 0)


async def test_nothing_is_changed_in_another_project_by_a_statement_about_every_row(
    two: tuple[PostgresStore, PostgresStore],
) -> None:
    ours, theirs = two
    await ours._writer.write(lambda tx: tx.db.execute("UPDATE pin SET text = 'gone'"))
    assert [each.text for each in await ours.pins(None, 9)] == ["gone"]
    assert [each.text for each in await theirs.pins(None, 9)] == ["quokka is pinned"]
    other = theirs._project
    with pytest.raises(ReadOnlyError, match="row-level security policy"):
        await ours._writer.write(
            lambda tx: tx.db.execute("INSERT INTO alias (word, miss, project) VALUES ('a', 1, ?)", (other,))
        )


async def test_every_table_shows_its_owner_one_project_only_too(owner: str, called: str) -> None:
    with psycopg.connect(owner, autocommit=True) as db:
        rows = db.execute(
            "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'pinfold'::regnamespace AND relkind = 'r' AND relname <> 'schema_version'"
        ).fetchall()
        assert len(rows) > 20
        assert [row for row in rows if row[1:] != (True, True)] == []
        assert db.execute("SELECT count(*) FROM pinfold.event").fetchone() == (0,)  # of no project
        assert db.execute("SELECT count(*) FROM pinfold.project").fetchone() == (0,)


async def test_a_role_that_sees_every_row_is_refused(superuser: str, called: str) -> None:
    with pytest.raises(InvalidInputError, match=r"sees the rows of every project.*CREATE ROLE"):
        await open_store(superuser, "demo")
