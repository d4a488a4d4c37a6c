"""A backup put back: under a running server, over every kind of damage, killed at every step, and undone."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from pinfold.server.settings import read_settings
from pinfold.store.errors import BusyError, DamagedError, InvalidInputError, PinfoldError, ReadOnlyError
from pinfold.store.sqlite.backing_up import back_up
from pinfold.store.sqlite.backups import Backup, backups_in
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place
from pinfold.store.sqlite.copying import State, snapshot, state_of
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.sqlite.gate import Gate
from pinfold.store.sqlite.restoring import Restored, put_back, staged
from pinfold.store.sqlite.store import open_store
from pinfold.store.sqlite.verifying import verify
from tests.contract.acts import pin
from tests.faults.dying import killed_at, some_of, steps_of
from tests.faults.lines import Server
from tests.faults.small_store import make_small
from tests.store.children import child, line_of
from tests.store.old_stores import unpacked
from tests.store.test_opening import CRASHING

KEPT = ["Retry 7 times", "Use port 5544"]
LATER = "decided later"


async def _pin(folder: Path, text: str) -> None:
    store = await open_store(folder, "demo")
    await pin(store, text)
    await store.close()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, with one decision more than its backup has, which was moved into its folder: `old.db`."""
    folder = tmp_path_factory.mktemp("history") / "store"
    anyio.run(make_small, folder)
    back_up(Place(folder), folder.parent / "old.db")
    (folder.parent / "old.db").rename(folder / "old.db")
    anyio.run(_pin, folder, LATER)
    return folder


@pytest.fixture
def place(history: Path, tmp_path: Path) -> Place:
    return Place(shutil.copytree(history, tmp_path / "home" / "store"))


def _restore(place: Place, file: Path | None = None) -> Restored:
    with staged(place, file or place.folder / "old.db", "demo") as ready:
        return put_back(ready)


def _pins(place: Place) -> list[str]:
    store = open_direct(place.folder, "demo")
    try:
        return [found.text for found in store.brief_state(None).pins]
    finally:
        store.close()


def _state(database: Path) -> State:
    with snapshot(database) as db:
        return state_of(db)


def _bytes(database: Path) -> bytes:
    return hashlib.sha256(database.read_bytes()).digest()


def test_a_restore_brings_the_backup_back_and_can_be_undone(place: Place) -> None:
    done = _restore(place)
    assert (_pins(place), done.set_aside) == (KEPT, None)
    assert verify(place.database).problems == ()
    assert done.undo is not None
    _restore(place, done.undo.path)
    assert _pins(place) == [*KEPT, LATER]
    anyio.run(_pin, place.folder, "and it goes on")
    assert verify(place.database).problems == ()


def test_the_plan_says_where_the_logs_part_and_what_would_be_lost_and_changes_nothing(place: Place) -> None:
    other = Place(shutil.copytree(place.folder, place.folder.with_name("other")))
    _restore(other)
    anyio.run(_pin, other.folder, "decided elsewhere")
    anyio.run(_pin, other.folder, "and more")
    old = _state(place.folder / "old.db")
    before, names = _bytes(place.database), sorted(place.folder.iterdir())
    with staged(place, other.database, "demo") as ready:
        difference = ready.plan.difference
    assert (difference.common, difference.gained) == (old.seq, 2)
    assert difference.lost == {"decision.pinned": 1}
    with staged(place, place.folder / "old.db", "demo") as ready:
        assert (ready.plan.restored, ready.plan.present) == (old, _state(place.database))
        assert (ready.plan.difference.common, ready.plan.difference.gained) == (old.seq, 0)
    left = {file for file in place.folder.iterdir() if not file.name.endswith(("-wal", "-shm"))}
    assert (_bytes(place.database), sorted(left)) == (before, names)


def test_a_running_server_goes_on_with_what_was_restored(home: Path, project: Path, tmp_path: Path) -> None:
    place = Place(read_settings({"PINFOLD_HOME": str(home)}, project).store_folder)
    with Server(home, project, "one") as one, Server(home, project, "two") as two:
        assert one.shake_hands()
        assert two.shake_hands()
        one.call("pin_decision", text="Use Redis for walruses", why="measured")
        made = back_up(place)
        for number in range(20):
            two.call("pin_decision", text=f"kangaroo number {number}", why="measured")
        two.call("spill_artifact", content="a kangaroo\n" * 9_000, label="zoo")
        assert "P21" in one.call("search_history", query="kangaroo number 19").text
        with staged(place, made.path, "shop") as ready:
            done = put_back(ready)
        assert done.set_aside is None
        for server in (one, two):
            assert "kangaroo" not in server.call("fetch_pointer", pointer="brief").text
            assert server.call("fetch_pointer", pointer="P21").failed
            assert server.call("search_history", query="kangaroo").facts["hits"] == []
            assert "P1" in server.call("search_history", query="walruses").text
        receipts = [
            server.call("pin_decision", text=f"after {n}", why="w").facts["receipt"]
            for n, server in enumerate((one, two))
        ]
        assert [one.call("fetch_pointer", pointer=f"P{n}").failed for n in (2, 3, 4)] == [False, False, True]
        assert (one.leave(), two.leave()) == (0, 0)
    assert verify(place.database).problems == ()
    assert min(int(str(receipt).partition(":")[0]) for receipt in receipts) > made.seq
    assert done.undo is not None
    assert _state(done.undo.path).seq > made.seq


def _remove_log_ahead(database: Path) -> None:
    """Write past the database, die, and lose what was written: the file is an older state of itself."""
    with child(CRASHING, database.parent) as writer:
        assert line_of(writer) == "written"
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)
    wal = database.with_name("log.db-wal")
    assert wal.stat().st_size > 0
    wal.unlink()


def _flip(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE event SET body = replace(body, 'Retry 7', 'Retry 8')")
        db.commit()


def _hollow(database: Path) -> None:
    whole = database.read_bytes()
    database.write_bytes(whole[:4_096] + random.Random(3).randbytes(len(whole) - 4_096))


def _replace_by_folder(database: Path) -> None:
    database.unlink()
    database.mkdir()


def _replace_by_link(database: Path) -> None:
    database.unlink()
    database.symlink_to("nowhere")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda database: os.truncate(database, 0),
    "missing": lambda database: database.unlink(),
    "cut short": lambda database: os.truncate(database, 40_000),
    "garbage": lambda database: database.write_bytes(random.Random(5).randbytes(60_000)),
    "hollow": _hollow,
    "a folder": _replace_by_folder,
    "a dangling link": _replace_by_link,
    "a changed body": _flip,
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_store_is_set_aside_whole_and_the_backup_serves(place: Place, kind: str) -> None:
    DAMAGES[kind](place.database)
    shutil.copy(place.folder / "old.db", place.folder / "log.db-wal")
    before = {
        file.name: file.lstat().st_ino for file in place.folder.iterdir() if file.name.startswith("log.db")
    }
    done = _restore(place)
    assert done.undo is None
    assert done.set_aside is not None
    assert before.items() <= {file.name: file.lstat().st_ino for file in done.set_aside.iterdir()}.items()
    assert (_pins(place), verify(place.database).problems) == (KEPT, ())
    anyio.run(_pin, place.folder, "still taken")
    assert stat.S_IMODE(done.set_aside.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.database.stat().st_mode) == 0o600


def test_a_store_that_lost_its_log_ahead_is_an_older_state_that_a_backup_moves_on(place: Place) -> None:
    _restore(place)
    made = back_up(place, place.folder.parent / "later.db")
    older = _state(place.database)
    with child(CRASHING, place.folder) as writer:
        assert line_of(writer) == "written"
        made = back_up(place, place.folder.parent / "newest.db")
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)
    place.log_ahead.unlink()
    assert _state(place.database) == older
    with staged(place, made.path, "demo") as ready:
        assert (ready.plan.difference.lost, ready.plan.difference.gained) == ({}, made.seq - older.seq)
        put_back(ready)
    assert _pins(place) == [*KEPT, "decision 0", "decision 1", "decision 2"]


def test_a_backup_makes_a_store_where_there_was_none(place: Place, tmp_path: Path) -> None:
    new = Place(tmp_path / "elsewhere" / "store")
    with staged(new, place.folder / "old.db", "demo") as ready:
        assert ready.plan.present is None
    assert not new.folder.exists()
    assert _restore(new, place.folder / "old.db") == Restored(None, None)
    assert _pins(new) == KEPT
    assert {stat.S_IMODE(file.stat().st_mode) for file in new.folder.iterdir()} == {0o600}


def test_a_backup_of_an_earlier_schema_is_brought_up_before_it_is_put_back(place: Place) -> None:
    file = place.folder / "golden.db"
    file.write_bytes(unpacked(1))
    before = _bytes(file)
    with staged(place, file, "demo") as ready:
        assert ready.plan.restored.schema == 1
        assert ready.plan.foreign == "a backup of another store of the name demo"
        done = put_back(ready)
    assert _state(place.database).schema == SCHEMA_VERSION
    assert verify(place.database).problems == ()
    assert _pins(place) == ["Retry 7 times"]
    assert _bytes(file) == before
    assert done.undo is not None
    assert done.set_aside is not None  # running servers know the store by another secret


def _newer(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (lambda file: os.truncate(file, 30_000), DamagedError, "its pages cannot be read"),
        (_flip, DamagedError, "event 2: its body was changed"),
        (
            lambda file: file.write_text("no database\n" * 99),
            InvalidInputError,
            "is no backup of a pinfold store",
        ),
        (lambda file: os.truncate(file, 0), InvalidInputError, "is no backup of a pinfold store"),
        (lambda file: file.unlink(), InvalidInputError, "is no file"),
        (_newer, InvalidInputError, "is of a newer pinfold"),
    ],
)
def test_what_is_no_sound_backup_is_refused_and_nothing_is_changed(
    place: Place, spoil: Callable[[Path], object], error: type[PinfoldError], said: str
) -> None:
    file = place.folder / "old.db"
    spoil(file)
    before, names = _bytes(place.database), sorted(place.folder.iterdir())
    with pytest.raises(error, match=said):
        _restore(place)
    assert (_bytes(place.database), sorted(place.folder.iterdir())) == (before, names)


def test_a_store_of_a_newer_pinfold_is_not_replaced_by_an_older_one(place: Place) -> None:
    _newer(place.database)
    before = _bytes(place.database)
    with pytest.raises(ReadOnlyError, match="a newer pinfold wrote it"):
        _restore(place)
    with pytest.raises(InvalidInputError, match="is the store itself"):
        _restore(place, place.database)
    assert _bytes(place.database) == before


def test_a_restore_waits_for_whoever_writes_and_names_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pinfold.store.sqlite import restoring

    monkeypatch.setattr(restoring, "WAIT_S", 0.2)
    before = _bytes(place.database)
    with closing(Gate(place.lock)) as gate, gate.hold(), pytest.raises(BusyError, match=f"pid {os.getpid()}"):
        _restore(place)
    assert _bytes(place.database) == before
    assert _restore(place).undo is not None


async def _outlived(place: Place, file: Path) -> None:
    """A store that was replaced while open neither writes nor takes the new one's log ahead with it."""
    old = await open_store(place.folder, "demo")
    await pin(old, "into the old file")
    _restore(place, file)
    new = await open_store(place.folder, "demo")
    await pin(new, "into the new file")
    with pytest.raises(DamagedError, match="start pinfold anew"):
        await pin(old, "into the void")
    await old.close()
    assert place.log_ahead.stat().st_size > 0
    await new.close()


def test_a_server_of_the_files_set_aside_does_not_touch_the_new_ones(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "other")
    anyio.run(make_small, other.folder)
    made = back_up(other)
    anyio.run(_outlived, place, made.path)
    assert _pins(place) == [*KEPT, "into the new file"]
    assert verify(place.database).problems == ()


@pytest.mark.parametrize("kills", [10, pytest.param(70, marks=pytest.mark.full)])
@pytest.mark.parametrize("damage", [None, "garbage"])
def test_a_restore_that_is_killed_loses_nothing_and_can_be_done_again(
    place: Place, tmp_path: Path, damage: str | None, kills: int | None
) -> None:
    old, now = _state(place.folder / "old.db"), _state(place.database)
    if damage is not None:
        DAMAGES[damage](place.database)
    spoiled = _bytes(place.database)
    seed = random.SystemRandom().randrange(10**6)
    steps = steps_of("restore", place.folder, tmp_path / "worlds")
    worlds = killed_at("restore", place.folder, tmp_path / "worlds", some_of(steps, kills, seed))
    found = {"as before": 0, "refused": 0, "restored": 0}
    for folder in worlds.values():
        killed = Place(folder)
        found[_fate(killed, old, spoiled if damage else now)] += 1
        _restore(killed)
        assert (_pins(killed), verify(killed.database).problems) == (KEPT, ())
        assert list(killed.folder.rglob("*.part*")) == []
    print(f"seed {seed}: {len(worlds)} kills over {steps} steps left {found}")
    assert found["as before"]
    assert found["restored"]
    assert not (found["refused"] and damage is None)


def _fate(killed: Place, old: State, before: State | bytes) -> str:
    """Say what a killed restore left; whatever that is, what was there before is still somewhere."""
    try:
        state = _state(killed.database) if killed.database.exists() else None
    except DamagedError:
        state = None
    if isinstance(before, State):
        assert state in (before, old)
        assert verify(killed.database).problems == ()
        assert state == before or before in [_state(backup.path) for backup in backups_in(killed.backups)]
        return "as before" if state == before else "restored"
    places = [killed.database, *killed.folder.glob("set-aside-*/log.db")]
    assert before in [_bytes(file) for file in places if file.exists()]
    if state == old:
        return "restored"
    with pytest.raises(DamagedError):
        open_direct(killed.folder, "demo")
    return "as before" if killed.database.exists() else "refused"


def test_files_that_are_being_set_aside_are_never_an_older_state(place: Place, tmp_path: Path) -> None:
    """Of a database that lost its log ahead nobody could tell what is missing."""
    other = Place(tmp_path / "other")
    anyio.run(make_small, other.folder)
    foreign = back_up(other)
    foreign.path.replace(place.folder / "old.db")
    with child(CRASHING, place.folder) as writer:
        assert line_of(writer) == "written"
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)
    assert place.log_ahead.stat().st_size > 0
    now, theirs = _state(place.database), _state(place.folder / "old.db")
    steps = steps_of("restore", place.folder, tmp_path / "worlds")
    worlds = killed_at("restore", place.folder, tmp_path / "worlds", range(steps - 20, steps + 1))
    found = {"as before": 0, "refused": 0, "restored": 0}
    for folder in worlds.values():
        killed = Place(folder)
        if killed.database.exists():
            state = _state(killed.database)
            assert state in (now, theirs)
            found["as before" if state == now else "restored"] += 1
        else:
            with pytest.raises(DamagedError):
                open_direct(folder, "demo")
            found["refused"] += 1
        assert now in [_state(backup.path) for backup in backups_in(killed.backups)]
    print(f"{len(worlds)} kills, the last of {steps} steps, left {found}")
    assert min(found.values()) > 0


def test_damage_leads_to_the_newest_backup(place: Place) -> None:
    made: Backup = back_up(place)
    os.truncate(place.database, 40_000)
    with pytest.raises(DamagedError) as refused:
        open_direct(place.folder, "demo").brief_state(None)
    assert f"`pinfold restore {made.path}` puts back the newest backup" in refused.value.hint
    place.database.unlink()
    with pytest.raises(DamagedError) as refused:
        open_direct(place.folder, "demo")
    assert refused.value.hint.startswith(f"`pinfold restore {made.path}` puts back the newest backup")
