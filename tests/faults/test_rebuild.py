"""`rebuild` beside readers and writers, killed in the middle, and of a log that is not what it was."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from pinfold.store.errors import BusyError, DamagedError
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import SqliteStore, open_store
from tests.contract.acts import find, pin, say
from tests.store.children import child, line_of, tell

pytestmark = pytest.mark.anyio
PINS = 40

REBUILDING = """
import sys
from pathlib import Path
import anyio
from pinfold.store.sql import rebuilding
from pinfold.store.sqlite.store import SqliteStore, open_store

rebuilding._EVERY = 1

async def main():
    store = await open_store(Path(sys.argv[1]), "demo")
    at = int(sys.argv[2])

    def stop(done, total):
        if done == at:
            print(done, total, flush=True)
            sys.stdin.readline()

    print(await store.rebuild(stop), flush=True)
    await store.close()

anyio.run(main)
"""


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    """Return a store of `PINS` pins and some messages, one of whose views was tampered with."""
    made = Place(tmp_path / "store")
    store = await open_store(made.folder, "demo")
    for n in range(1, PINS + 1):
        await pin(store, f"decision {n} of the walrus")
        await say(store, f"message {n}")
    await store.close()
    with closing(sqlite3.connect(made.database)) as link:
        link.execute("UPDATE pin SET text = 'tampered' WHERE number = 7")
        link.commit()
    return made


@contextmanager
def _half_rebuilt(place: Place) -> Iterator[Popen[str]]:
    """Run a rebuild in another process and stop it in the middle, with its transaction open."""
    with child(REBUILDING, place.folder, str(PINS)) as running:
        assert line_of(running) == f"{PINS} {2 * PINS + 1}"
        yield running


async def _texts(store: SqliteStore) -> list[str]:
    return [each.text for each in await store.pins(None, 100)]


def _all(seventh: str) -> list[str]:
    return [seventh if n == 7 else f"decision {n} of the walrus" for n in range(PINS, 0, -1)]


async def test_readers_see_whole_views_before_during_and_after_a_rebuild(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    with _half_rebuilt(place) as running:
        assert await _texts(store) == _all("tampered")
        assert len((await find(store, "walrus", limit=50)).hits) == PINS
        assert (await store.status()).live_pins == PINS
        tell(running)
        assert line_of(running) == f"{2 * PINS + 1}"
    assert await _texts(store) == _all("decision 7 of the walrus")
    assert len((await find(store, "walrus", limit=50)).hits) == PINS
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_writer_is_told_who_rebuilds_and_is_served_afterwards(place: Place) -> None:
    store = await open_store(place.folder, "demo", wait_s=0.3)
    with _half_rebuilt(place) as running:
        with pytest.raises(BusyError) as busy:
            await pin(store, "one more")
        assert busy.value.holder == f"pid {running.pid}"
        tell(running)
        line_of(running)
    assert (await pin(store, "one more")).pin.number == PINS + 1
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_rebuild_that_is_killed_leaves_what_was_there(place: Place) -> None:
    with _half_rebuilt(place) as running:
        running.kill()
        assert running.wait() == -signal.SIGKILL
    store = await open_store(place.folder, "demo")
    assert await _texts(store) == _all("tampered")
    assert (await store.verify()).problems == ("view pin: it differs from the log; run `pinfold rebuild`",)
    assert await store.rebuild() == 2 * PINS + 1
    assert await _texts(store) == _all("decision 7 of the walrus")
    assert (await store.verify()).problems == ()
    await store.close()


async def test_what_a_rebuild_would_change_is_said_and_nothing_is_changed(place: Place) -> None:
    before = place.database.read_bytes()
    store = await open_store(place.folder, "demo")
    assert await store.stale_views() == ("view pin",)
    assert await _texts(store) == _all("tampered")
    await store.rebuild()
    assert await store.stale_views() == ()
    await store.close()
    assert place.database.read_bytes() != before


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param("body = replace(body, 'decision 9', 'decision 8')", id="its body"),
        pytest.param("at = '1999-01-01T00:00:00.000000Z'", id="what only the chain shows"),
    ],
)
async def test_a_damaged_log_is_not_made_into_views(place: Place, changed: str) -> None:
    """The views may be all that is left of what the event said."""
    with closing(sqlite3.connect(place.database)) as link:
        link.execute(f"UPDATE event SET {changed} WHERE seq = 18")
        assert link.total_changes == 1
        link.commit()
    store = await open_store(place.folder, "demo")
    for act in (store.rebuild, store.stale_views):
        with pytest.raises(DamagedError, match="Event 18 of the log is damaged; nothing was changed"):
            await act()
    assert await _texts(store) == _all("tampered")
    assert (await pin(store, "still written")).pin.number == PINS + 1
    await store.close()


def _lose_a_row(database: Path, query: str) -> None:
    """Let the index of sessions forget the fifth event: made anew without it, then called whole again."""
    whole = "CREATE INDEX event_session ON event (session, seq)"
    for sql in (f"{whole} WHERE seq != 5", whole):
        with closing(sqlite3.connect(database)) as link:
            link.execute("PRAGMA writable_schema = ON")
            link.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'event_session'", (sql,))
            link.commit()
        if sql != whole:
            with closing(sqlite3.connect(database)) as link:
                link.execute("REINDEX event_session")
    with closing(sqlite3.connect(database)) as link:
        assert link.execute(query).fetchone()[0] == 2 * PINS


async def test_an_index_of_the_log_that_lost_a_row_is_named_and_made_anew(place: Place) -> None:
    query = "SELECT count(*) FROM event INDEXED BY event_session"
    _lose_a_row(place.database, query)
    store = await open_store(place.folder, "demo")
    problems = (await store.verify()).problems
    assert any("row 5 missing from index event_session" in problem for problem in problems), problems
    await store.rebuild()
    assert (await store.verify()).problems == ()
    await store.close()
    with closing(sqlite3.connect(place.database)) as link:
        assert link.execute(query).fetchone()[0] == 2 * PINS + 1
