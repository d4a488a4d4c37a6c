"""Stores as earlier versions of the schema left them; `golden/` has one of each, made by the program of its time."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from pinfold.store.commands import Message, StartSession
from pinfold.store.errors import ReadOnlyError
from pinfold.store.events import BODY_VERSION, Kind, body_of
from pinfold.store.sql.rows import event_of
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place, identity
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.sqlite.glance import glance
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.store.make_golden import golden_of
from tests.store.old_stores import lay_out
from tests.store.refused_upgrade import refuse_upgrades

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RELEASED = range(1, SCHEMA_VERSION)
ANNA = Caller("claude-code", "anna")


@pytest.fixture(params=RELEASED, ids=lambda schema: f"schema-{schema}")
def old(request: pytest.FixtureRequest, place: Place) -> Place:
    lay_out(place, request.param)
    return place


def _columns(database: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(database)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        indexes = list(db.execute("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index'"))
        columns = {
            table: sorted(row[1:4] for row in db.execute(f"PRAGMA table_info({table})")) for table in tables
        }
        return columns | {"indexes": sorted(indexes)}


@pytest.mark.anyio
async def test_an_old_store_keeps_everything_and_takes_new_writes(old: Place) -> None:
    store = await open_store(old.folder, "demo")
    try:
        assert (await store.pin(1)).pin.text == "Retry 7 times"
        await store.start_session(StartSession(ANNA, run="1", transcript="/t.jsonl"))
        assert (await store.append_messages(ANNA, [Message("user", "hello walrus", "m1")])).appended == 0
        assert [each.label for each in (await store.brief_state(ANNA)).artifacts] == ["log"]
        assert (await store.verify()).problems == ()
    finally:
        await store.close()


def test_an_upgraded_store_has_the_tables_of_a_new_one(old: Place, tmp_path: Path) -> None:
    open_direct(old.folder, "demo").close()
    new = Place(tmp_path / "new")
    open_direct(new.folder, "demo").close()
    assert _columns(old.database) == _columns(new.database)
    with closing(sqlite3.connect(old.database)) as db:
        assert identity(db)[1] == SCHEMA_VERSION


def test_there_is_a_sample_of_every_kind_of_event_and_of_every_version_of_a_body(tmp_path: Path) -> None:
    """Each version of a body that was ever written is read for ever: the golden databases keep one."""
    found = set()
    for number, golden in enumerate(map(golden_of, RELEASED)):
        database = tmp_path / f"{number}.db"
        database.write_bytes(zstd.decompress(golden.read_bytes()))
        with closing(sqlite3.connect(database)) as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM event").fetchall()
        assert all(event_of(row).body for row in rows)
        found |= {(str(row["kind"]), int(row["version"])) for row in rows}
    unwritten = {
        Kind.PROJECTION_COMMITTED,
        Kind.ENTRY_FORGOTTEN,
        Kind.SEARCH_ANSWERED,
    }  # the one not by schema 4, the others by none of these stores
    released = {kind.value for kind in Kind} - unwritten
    assert {kind for kind, _ in found} == released
    assert {version for _, version in found} >= set(range(1, BODY_VERSION + 1))


def test_a_body_of_a_version_to_come_says_what_to_do() -> None:
    with pytest.raises(ReadOnlyError, match=r"a newer pinfold wrote an event of it .*Update pinfold"):
        body_of("{}", BODY_VERSION + 1)


def test_a_glance_at_an_old_store_shows_its_brief(old: Place) -> None:
    state, _ = glance(old.folder, ANNA)
    assert "Retry 7 times" in [pin.text for pin in state.pins]


def test_an_upgrade_that_fails_leaves_the_old_store_as_it_was(
    old: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _columns(old.database)
    refuse_upgrades(monkeypatch)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        open_direct(old.folder, "demo")
    assert _columns(old.database) == before
    monkeypatch.undo()
    anyio.run(_open_and_close, old.folder)


async def _open_and_close(folder: Path) -> None:
    await (await open_store(folder, "demo")).close()
