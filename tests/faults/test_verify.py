"""`verify` beside writers, without room, and with a report that keeps its head."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin, say, spill
from tests.store.children import ended

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "store")
    store = await open_store(made.folder, "demo")
    await say(store, *(f"message {n} about the build" for n in range(200)))
    await spill(store, random.Random(1).randbytes(600_000), label="noise")
    await pin(store, "use Redis")
    await store.close()
    return made


async def test_the_log_ahead_can_be_cut_while_verify_works(place: Place) -> None:
    """A snapshot that lasted as long as the work would keep every page written since (P16)."""
    store = await open_store(place.folder, "demo")
    cuts: list[tuple[int, int]] = []

    def cut_meanwhile(done: int, total: int) -> None:
        """Write past the store, then move all of it into the database; runs on verify's own thread."""
        if done * 10 < total * 2:
            return  # it still copies
        with closing(sqlite3.connect(place.database, isolation_level=None)) as link:
            link.execute("INSERT OR REPLACE INTO meta VALUES ('probe', ?)", (f"{done}".encode(),))
            busy = link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        cuts.append((busy, place.log_ahead.stat().st_size))

    report = await store.verify(cut_meanwhile)
    await store.close()
    print(f"{len(cuts)} cuts while it worked")
    assert report.ok
    assert len(cuts) >= 3
    assert set(cuts) == {(0, 0)}


async def test_what_is_written_while_verify_works_is_no_difference(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    other = await open_store(place.folder, "demo")
    written = 0

    def write_meanwhile(_done: int, _total: int) -> None:
        nonlocal written
        with closing(sqlite3.connect(place.database, isolation_level=None)) as link:
            link.execute("UPDATE pin SET tokens = tokens + 1")
            link.execute("UPDATE pin SET tokens = tokens - 1")
        written += 1

    report = await store.verify(write_meanwhile)
    await other.close()
    await store.close()
    assert report.problems == ()
    assert written >= 4


WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from pinfold.store.errors import NoSpaceError
from pinfold.store.sqlite.verifying import verify

database = Path(sys.argv[1])
assert database.stat().st_size > 6_000_000
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    print(verify(database).problems)
except NoSpaceError as error:
    print("no room:", error)
"""


async def test_no_room_for_the_copy_is_no_damage_of_the_store(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await spill(store, os.urandom(3_500_000), label="more than a cache holds")
    await store.close()
    before = place.database.read_bytes()
    told = ended(WITHOUT_ROOM, place.database)
    assert told.stdout.startswith("no room: the folder for temporary files takes no more bytes"), told
    assert place.database.read_bytes() == before


async def test_a_damaged_artifact_hides_no_other_damage(place: Place) -> None:
    with closing(sqlite3.connect(place.database)) as link:
        link.execute("UPDATE chunk SET packed = x'00' WHERE id = 2")
        link.execute("UPDATE pin SET text = 'use Mongo'")
        link.commit()
    store = await open_store(place.folder, "demo")
    problems = (await store.verify()).problems
    await store.close()
    assert [problem.split(":")[0] for problem in problems[1:]] == ["view pin", "search index"]
    assert "is damaged" in problems[0]
