"""The file layer of the fault tests is sound: it sees everything, changes nothing, and does what a test asks of it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from tests.faults.layer.power import Disk
from tests.faults.layer.recording import Recording
from tests.faults.layer.shim import FileCall, Go, shim
from tests.faults.workload import caring, life

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("file_layer")]


async def _live(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    for act in (*life("one"), *caring(), *life("two")):
        await act.run(store)
    assert (await store.verify()).problems == ()
    await store.close()


def _log(place: Place) -> list[tuple[object, ...]]:
    """All that the log says but for the time, of which the digests know."""
    query = "SELECT seq, session, actor, kind, key, parent, version, body FROM event ORDER BY seq"
    with closing(sqlite3.connect(place.database)) as link:
        return link.execute(query).fetchall()


async def test_a_store_lives_the_same_life_over_the_layer_as_without_it(place: Place, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def look(call: FileCall, go: Go) -> int:
        seen[call.kind] += 1
        return go(call)

    with shim().leading_to(look):
        await _live(place)
    counted = dict(seen)
    without = Place(tmp_path / "without")
    await _live(without)
    assert set(counted) == {"open", "read", "write", "truncate", "sync", "delete", "shm_map", "shm_lock"}
    assert dict(seen) == counted
    assert _log(place) == _log(without)


async def test_a_recording_played_to_its_end_gives_the_files_that_lie_there(place: Place) -> None:
    recording = Recording(place.folder)
    with recording.running():
        await _live(place)
    disk = Disk.holding(recording.before)
    for step in recording.steps:
        disk.apply(step)
    there = {path.name: path.read_bytes() for path in place.folder.iterdir() if path != place.lock}
    assert disk.now() == there
    assert len(there["log.db"]) > 100_000


def _make_table(database: Path) -> None:
    with closing(sqlite3.connect(database)) as link:
        link.execute("CREATE TABLE some (thing)")


def test_a_write_can_be_cut_short(tmp_path: Path) -> None:
    sizes = []

    def half(call: FileCall, go: Go) -> int:
        if call.kind != "write":
            return go(call)
        go(replace(call, amount=call.amount // 2))
        sizes.append((call.amount, Path(call.path).stat().st_size))
        return sqlite3.SQLITE_FULL

    with shim().leading_to(half), pytest.raises(sqlite3.OperationalError, match="full"):
        _make_table(tmp_path / "some.db")
    assert sizes == [(512, 256)]


def test_what_a_test_raises_in_the_layer_reaches_the_test(tmp_path: Path) -> None:
    def fail(call: FileCall, go: Go) -> int:
        if call.kind == "sync":
            raise ValueError("of the test")
        return go(call)

    with pytest.raises(ValueError, match="of the test"), shim().leading_to(fail), suppress(sqlite3.Error):
        _make_table(tmp_path / "some.db")
