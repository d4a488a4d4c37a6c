"""Damaged and strange files at the start: the message names cause and next step, and no file is changed."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.store.errors import DamagedError, PinfoldError, ReadOnlyError
from pinfold.store.sql.database import Database
from pinfold.store.sqlite.connection import APPLICATION_ID, SCHEMA_VERSION, Place
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.store.children import child, line_of

pytestmark = pytest.mark.anyio

CRASHING = """
import sys
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

async def main():
    store = await open_store(Path(sys.argv[1]), "demo")
    for n in range(3):
        await store.pin_decision(PinDecision(Caller("test", "crash"), f"decision {n}", "measured"))
    print("written", flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""


SPILLING = """
import sqlite3, sys
link = sqlite3.connect(sys.argv[1], isolation_level=None)
link.execute("PRAGMA cache_size = 1")
link.execute("BEGIN IMMEDIATE")
link.execute("UPDATE event SET body = body || ' '")
for number in range(200):
    link.execute("INSERT INTO search VALUES (?, '', 1, hex(randomblob(2000)), '[]')", (number,))
print("spilled", flush=True)
sys.stdin.read()
"""


async def _make(place: Place, pins: int = 2) -> None:
    store = await open_store(place.folder, "demo")
    for number in range(pins):
        await pin(store, f"decision {number}")
    await store.close()


def _picture(folder: Path) -> dict[str, str]:
    """What lies in a folder: name, kind and content of each thing."""
    return {path.name: _content(path) for path in folder.iterdir()}


def _content(path: Path) -> str:
    mode = path.lstat().st_mode
    kind = stat.filemode(mode)
    return f"{kind} {hashlib.sha256(path.read_bytes()).hexdigest()}" if stat.S_ISREG(mode) else kind


def _foreign(database: Path, application: int) -> None:
    database.unlink()
    with closing(sqlite3.connect(database)) as link:
        link.execute("PRAGMA journal_mode = WAL")
        link.execute(f"PRAGMA application_id = {application}")
        link.execute("CREATE TABLE theirs (name TEXT)")
        link.commit()


def _random(database: Path) -> None:
    database.write_bytes(random.Random(5).randbytes(20_000))


def _smash_header(database: Path) -> None:
    with database.open("r+b") as file:
        file.write(bytes(16))


def _link_to(target: str) -> Callable[[Path], None]:
    def make(database: Path) -> None:
        database.rename(database.with_name("real.db"))
        database.symlink_to(database.with_name(target))

    return make


def _replace_by(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(database: Path) -> None:
        database.unlink()
        make(database)

    return replace


ZOO: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda database: os.truncate(database, 0), "missing or empty"),
    "missing": (lambda database: database.unlink(), "missing or empty"),
    "random bytes": (_random, "no database"),
    "a few bytes": (lambda database: os.truncate(database, 50), "no database"),
    "header smashed": (_smash_header, "no database"),
    "another program": (lambda database: _foreign(database, 0x1234), "belongs to another program"),
    "another program without an id": (lambda database: _foreign(database, 0), "not a pinfold store"),
    "directory": (_replace_by(Path.mkdir), "not a regular file"),
    "pipe": (_replace_by(os.mkfifo), "not a regular file"),
    "link to a store": (_link_to("real.db"), "not a regular file"),
    "dangling link": (_link_to("nowhere.db"), "not a regular file"),
    "link to itself": (_link_to("log.db"), "not a regular file"),
    "hard link": (lambda database: os.link(database, database.with_name("twin.db")), "with one name"),
}


REMEMBERED = [(kind, True) for kind in ZOO]
FORGOTTEN = [(kind, False) for kind in ZOO if kind not in ("empty", "missing")]
"""Nothing says that an empty or missing file was ever a store: see the tests of the first start."""


@pytest.mark.parametrize(("kind", "remembered"), REMEMBERED + FORGOTTEN)
async def test_a_strange_file_is_refused_with_cause_and_next_step_and_left_alone(
    place: Place, kind: str, *, remembered: bool
) -> None:
    damage, cause = ZOO[kind]
    await _make(place)
    damage(place.database)
    if not remembered:
        place.store_id.unlink()
    before = _picture(place.folder)
    for _ in range(2):
        with pytest.raises(DamagedError, match=cause) as refused:
            await open_store(place.folder, "demo")
        assert str(place.folder) in refused.value.message
        assert refused.value.hint.startswith(
            "`pinfold restore FILE` puts back a backup, or move that folder away"
        )
    ours = {"log.db-wal", "log.db-shm"} if kind == "another program without an id" else set()
    assert {name: what for name, what in _picture(place.folder).items() if name not in ours} == before


async def test_a_store_cut_short_anywhere_is_damaged_and_never_empty(place: Place) -> None:
    await _make(place, pins=40)
    whole = place.database.read_bytes()
    for part in range(20):
        place.database.write_bytes(whole[: len(whole) * part // 20])
        before = _picture(place.folder)
        with pytest.raises(DamagedError):
            await open_store(place.folder, "demo")
        now = _picture(place.folder)
        assert (now["log.db"], now["store-id"]) == (before["log.db"], before["store-id"])


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
async def test_a_store_of_another_user_is_refused(place: Place) -> None:
    await _make(place)
    os.chown(place.database, 4711, -1)
    before = _picture(place.folder)
    with pytest.raises(ReadOnlyError, match="belongs to another user"):
        await open_store(place.folder, "demo")
    assert _picture(place.folder) == before


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a blank header"])
async def test_a_first_start_that_was_cut_short_is_done_again(place: Place, left: str) -> None:
    place.folder.mkdir(parents=True)
    if left != "nothing":
        place.database.touch()
    if left == "a blank header":
        with closing(sqlite3.connect(place.database)) as link:
            link.execute("PRAGMA journal_mode = WAL")
        assert place.database.stat().st_size > 0
    await _make(place)
    store = await open_store(place.folder, "demo")
    assert [found.text for found in await store.pins(None, 9)] == ["decision 1", "decision 0"]
    await store.close()


async def test_a_store_that_lost_its_store_id_keeps_its_log(place: Place) -> None:
    await _make(place)
    place.store_id.unlink()
    before = _content(place.database)
    store = await open_store(place.folder, "demo")
    assert (await store.status()).live_pins == 2
    await store.close()
    assert _content(place.database) == before
    assert place.store_id.exists()


async def test_a_start_that_only_reads_changes_no_byte_and_leaves_nothing_behind(place: Place) -> None:
    await _make(place)
    before, touched = _picture(place.folder), place.database.stat().st_mtime_ns
    store = await open_store(place.folder, "another name")
    assert (await store.status()).live_pins == 2
    assert store.project == "demo"
    await store.close()
    assert _picture(place.folder) == before | {"log.lock": _content(place.lock)}
    assert place.database.stat().st_mtime_ns == touched


async def test_a_store_of_a_newer_pinfold_is_read_and_not_written(place: Place) -> None:
    await _make(place)
    with closing(sqlite3.connect(place.database)) as link:
        link.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = _content(place.database)
    store = await open_store(place.folder, "demo")
    assert (await store.pin(1)).pin.text == "decision 0"
    with pytest.raises(ReadOnlyError, match=r"newer pinfold .*update pinfold; nothing was written"):
        await pin(store, "too late")
    assert "newer pinfold" in ((await store.status()).read_only or "")
    await store.close()
    assert _content(place.database) == before


async def test_a_killed_writer_loses_nothing(place: Place) -> None:
    _write_and_die(place)
    store = await open_store(place.folder, "demo")
    assert [found.text for found in await store.pins(None, 9)] == ["decision 2", "decision 1", "decision 0"]
    assert (await store.verify()).problems == ()
    await store.close()


async def test_without_its_write_ahead_log_a_store_is_an_older_whole_state_or_damaged(place: Place) -> None:
    """A cut tail leaves no trace in the file; only a receipt that lies behind the tip can show it."""
    await _make(place)
    _write_and_die(place)
    wal = place.database.with_name("log.db-wal")
    assert wal.stat().st_size > 0
    wal.unlink()
    store = await open_store(place.folder, "demo")
    report = await store.verify()
    assert (report.problems, report.events) == ((), 3)
    await store.close()


async def test_what_a_killed_writer_left_half_done_without_a_write_ahead_log_is_taken_back(
    place: Place,
) -> None:
    await _make(place)
    with closing(sqlite3.connect(place.database)) as link:
        link.execute("PRAGMA journal_mode = DELETE")
    before = place.database.read_bytes()
    with child(SPILLING, place.database) as writer:
        assert line_of(writer) == "spilled"
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)
    assert place.database.with_name("log.db-journal").stat().st_size > 0
    assert place.database.read_bytes() != before
    store = await open_store(place.folder, "demo")
    assert [found.text for found in await store.pins(None, 9)] == ["decision 1", "decision 0"]
    assert (await store.verify()).problems == ()
    await store.close()
    assert place.database.read_bytes() == before


def _write_and_die(place: Place) -> None:
    with child(CRASHING, place.folder) as writer:
        assert line_of(writer) == "written"
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)


@pytest.mark.parametrize("fate", ["replaced", "removed"])
async def test_nothing_is_written_into_a_file_that_is_no_longer_the_stores(place: Place, fate: str) -> None:
    other = Place(place.folder.with_name("other"))
    await _make(other, pins=1)
    await _make(place)
    store = await open_store(place.folder, "demo")
    if fate == "replaced":
        os.replace(other.database, place.database)
    else:
        place.database.unlink()
    before = _picture(place.folder)
    with pytest.raises(DamagedError, match=r"replaced or removed while open.*start pinfold anew"):
        await pin(store, "into the void")
    assert (await store.status()).live_pins == 2
    assert _picture(place.folder) == before
    await store.close()


async def test_the_made_file_says_whose_it_is_and_is_safe_against_power_loss(place: Place) -> None:
    await _make(place)
    header = place.database.read_bytes()[:100]
    assert int.from_bytes(header[68:72], "big") == APPLICATION_ID
    assert int.from_bytes(header[60:64], "big") == SCHEMA_VERSION
    store = await open_store(place.folder, "demo")
    settings = await store._writer.write(lambda tx: _settings(tx.db))
    assert settings == {
        "busy_timeout": 5_000,
        "foreign_keys": 1,
        "journal_mode": "wal",
        "mmap_size": 0,
        "synchronous": 3,
        "trusted_schema": 0,
    }
    await store.close()


def _settings(db: Database) -> dict[str, object]:
    names = ("busy_timeout", "foreign_keys", "journal_mode", "mmap_size", "synchronous", "trusted_schema")
    return {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in names}


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
async def test_files_and_folders_are_the_users_alone_under_any_umask(place: Place, mask: int) -> None:
    kept = os.umask(mask)
    try:
        store = await open_store(place.folder, "demo")
        await pin(store, "secret enough")
    finally:
        os.umask(kept)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.folder.iterdir()}
    names = ("log.db", "log.db-shm", "log.db-wal", "log.lock", "store-id")
    assert modes == dict.fromkeys(names, 0o600)
    for folder in (place.folder, place.folder.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await store.close()


async def test_a_place_that_is_no_folder_is_refused_by_name(place: Place) -> None:
    place.folder.parent.mkdir()
    place.folder.write_text("a file")
    with pytest.raises(PinfoldError, match="cannot be used"):
        await open_store(place.folder, "demo")
