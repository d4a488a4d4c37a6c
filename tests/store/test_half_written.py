"""A store whose writer was killed while the database itself was half written: it opens, and nothing is lost."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from pinfold.store.errors import DamagedError, ReadOnlyError
from pinfold.store.sqlite import connection, opening
from pinfold.store.sqlite.backing_up import UNREADABLE
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.glance import glance
from pinfold.store.sqlite.restoring import staged
from pinfold.store.sqlite.store import SqliteStore, open_store
from tests.contract.acts import ANNA, pin
from tests.store.children import child, line_of

pytestmark = pytest.mark.anyio

PINS = 40
PAGE_BYTES = 4_096

HALF_A_WRITE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE event SET body = upper(body)")
print("half", flush=True)
sys.stdin.read()
"""


async def _filled(place: Place) -> SqliteStore:
    store = await open_store(place.folder, "demo")
    for number in range(PINS):
        await pin(store, f"decision {number} {'x' * 1_000}")
    return store


async def _assert_whole(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    assert (await store.verify()).problems == ()
    assert len(await store.pins(None, PINS + 1)) == PINS
    await pin(store, "and on")
    await store.close()


async def test_a_checkpoint_that_was_cut_short_is_no_damage(place: Place) -> None:
    """The first page says already how large the file will be."""
    store = await _filled(place)
    before, ahead = place.database.read_bytes(), place.log_ahead.read_bytes()
    await store.close()
    after = place.database.read_bytes()
    assert len(after) > len(before)
    place.database.write_bytes(after[:PAGE_BYTES] + before[PAGE_BYTES:])
    place.log_ahead.write_bytes(ahead)
    await _assert_whole(place)


async def _cut_short(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a store without write-ahead log as a killed writer leaves it: half written, its journal beside it."""
    monkeypatch.setattr(opening, "can_carry_wal", lambda _: False)
    await (await _filled(place)).close()
    before = place.database.read_bytes()
    with child(HALF_A_WRITE, place.database) as writer:
        assert line_of(writer) == "half"
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)
    assert place.rollback_journal.stat().st_size > PAGE_BYTES
    assert place.database.read_bytes() != before


async def test_a_write_that_was_cut_short_is_undone_when_the_store_is_opened(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _cut_short(place, monkeypatch)
    await _assert_whole(place)


async def test_a_glance_undoes_it_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    await _cut_short(place, monkeypatch)
    state, _ = glance(place.folder, ANNA)
    assert len(state.pins) == PINS


async def test_a_half_written_store_that_cannot_be_written_is_not_read_as_it_lies_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _cut_short(place, monkeypatch)
    monkeypatch.setattr(connection, "sealed", lambda _: "it lies on a disk for reading only")
    left = _picture(place.folder)
    with pytest.raises(ReadOnlyError, match=r"must be undone first.*Open it once where it can be written"):
        await open_store(place.folder, "demo")
    assert _picture(place.folder) == left


async def test_a_half_written_store_is_not_restored_from_as_it_lies_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _cut_short(place, monkeypatch)
    elsewhere = Place(place.folder.with_name("elsewhere"))
    with pytest.raises(DamagedError, match=UNREADABLE), staged(elsewhere, place.database, "demo"):
        pass


def _picture(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.lock"}
