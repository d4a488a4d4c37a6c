"""Backups: made while others write, killed at every step, of damaged stores, and what is in them."""

from __future__ import annotations

import random
import shutil
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from pinfold.store.errors import DamagedError, InvalidInputError, NoSpaceError
from pinfold.store.sqlite import copying
from pinfold.store.sqlite.backing_up import back_up, problem_of
from pinfold.store.sqlite.backups import backups_in
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place
from pinfold.store.sqlite.copying import snapshot, state_of
from pinfold.store.sqlite.store import open_store
from pinfold.store.sqlite.verifying import verify
from tests.contract.acts import pin
from tests.faults.dying import killed_at, some_of, steps_of
from tests.faults.small_store import make_small
from tests.faults.test_damage import KINDS, damage, history
from tests.store.children import child, line_of, tell

FEW = ("body changed", "chunk: a bit flipped", "pin changed", "index emptied")

MOST_WRITES = 200
"""A copy that every write makes begin anew would never end."""

WRITING = """
import sys
from pathlib import Path
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.values import Caller

store = open_direct(Path(sys.argv[1]), "demo")
for number, _ in enumerate(sys.stdin):
    pinned = store.pin_decision(PinDecision(Caller("test", "other"), f"decision {number}", "measured"))
    print(pinned.receipt, flush=True)
store.close()
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "store"
    anyio.run(make_small, folder)
    return folder


@pytest.fixture
def place(sound: Path, tmp_path: Path) -> Place:
    return Place(shutil.copytree(sound, tmp_path / "home" / "store"))


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = Place(tmp_path_factory.mktemp("backed-up") / "store")
    anyio.run(history, place)
    back_up(place)
    return place.folder


def _journal(place: Place, mode: str) -> None:
    with closing(sqlite3.connect(place.database)) as db:
        assert db.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0] == mode


def test_a_backup_holds_every_event_acknowledged_before_it_and_stops_no_writer(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "PAGES_AT_A_TIME", 4)
    during: list[str] = []
    steps = Counter[int]()
    with child(WRITING, place.folder) as writer:

        def write() -> str:
            tell(writer)
            return line_of(writer)

        before = [write() for _ in range(5)]

        def told(done: int, total: int) -> None:
            if 2 * done <= total and len(during) < MOST_WRITES:  # pages are being copied
                steps[done] += 1
                during.append(write())

        made = back_up(place, progress=told)
        after = write()
    print(f"{len(before)} acknowledged before, {len(during)} during {len(steps)} steps, then {after}")
    pages = made.size_bytes // 4_096
    assert MOST_WRITES > len(during) >= pages // 4 > 20
    assert set(steps.values()) == {1}  # no write made it begin anew
    assert verify(made.path).problems == ()
    with snapshot(made.path) as db:
        assert str(state_of(db).tip) == before[-1]
    assert made.seq == int(before[-1].partition(":")[0]) < int(after.partition(":")[0])


def test_a_backup_is_made_where_there_is_no_write_ahead_log(place: Place) -> None:
    _journal(place, "delete")
    seen: list[tuple[int, int]] = []
    made = back_up(place, progress=lambda done, total: seen.append((done, total)))
    assert verify(made.path).problems == ()
    assert seen[-1][0] == seen[-1][1]
    assert [done / total for done, total in seen] == sorted(done / total for done, total in seen)


def test_a_backup_is_one_file_of_its_own_that_nothing_is_laid_beside(place: Place, tmp_path: Path) -> None:
    made = back_up(place, tmp_path / "mine.db")
    assert made.path == tmp_path / "mine.db"
    assert verify(made.path).ok
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["mine.db"]
    elsewhere = Place(tmp_path / "elsewhere")
    elsewhere.folder.mkdir()
    shutil.copy(made.path, elsewhere.database)
    anyio.run(_reads_and_writes, elsewhere.folder)


async def _reads_and_writes(folder: Path) -> None:
    store = await open_store(folder, "demo")
    assert (await store.pin(1)).pin.text == "Retry 7 times"
    await pin(store, "still written")
    assert (await store.verify()).problems == ()
    await store.close()


@pytest.mark.parametrize("kills", [10, pytest.param(None, marks=pytest.mark.full)])
def test_a_backup_that_is_killed_is_none_and_the_next_one_clears_what_it_left(
    place: Place, tmp_path: Path, kills: int | None
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    steps = steps_of("backup", place.folder, tmp_path / "worlds")
    worlds = killed_at("backup", place.folder, tmp_path / "worlds", some_of(steps, kills, seed))
    half = finished = 0
    for folder in worlds.values():
        killed = Place(folder)
        half += any(killed.backups.glob("*.part"))
        finished += len(backups_in(killed.backups))
        made = back_up(killed)
        assert list(killed.backups.glob("*.part*")) == []
        for backup in backups_in(killed.backups):
            with snapshot(backup.path) as db:
                assert problem_of(backup.path, state_of(db)) == ""
        assert made.seq == backups_in(killed.backups)[-1].seq
        assert verify(killed.database).problems == ()
    print(f"seed {seed}: {len(worlds)} kills over {steps} steps left {half} half files, {finished} backups")
    assert half
    assert finished < len(worlds)


@pytest.mark.parametrize(
    "kind", [kind if kind in FEW else pytest.param(kind, marks=pytest.mark.full) for kind in KINDS]
)
def test_a_copy_of_a_damaged_store_is_never_called_a_backup(
    backed_up: Path, tmp_path: Path, kind: str
) -> None:
    place = Place(shutil.copytree(backed_up, tmp_path / "store"))
    (sound,) = backups_in(place.backups)
    wreak, said = KINDS[kind]
    damage(place.database, wreak)
    with pytest.raises(DamagedError) as refused:
        back_up(place)
    assert said in refused.value.message or ", and " in refused.value.message  # only the first is told
    assert (
        f"`pinfold restore {sound.path}` puts back the newest backup (up to event {sound.seq}, "
        in refused.value.hint
    )
    assert [file.name for file in place.backups.iterdir()] == [sound.path.name]


def test_pages_that_cannot_be_read_are_damage_of_the_store_and_no_backup(place: Place) -> None:
    whole = place.database.read_bytes()
    found = Counter[str]()
    for at in range(0, len(whole), len(whole) // 12):
        place.database.write_bytes(whole[:at] + b"\xa5" * 4_096 + whole[at + 4_096 :])
        try:
            back_up(place)
        except DamagedError as error:
            found[error.what.partition(" (")[0]] += 1
        else:
            found["made"] += 1  # the page was a free one
    print(dict(found))
    made = found.pop("made", 0)
    assert list(found) == [f"The store in {place.folder}"]
    assert found.total() >= 10
    assert len(backups_in(place.backups)) == made


def test_what_others_left_half_done_is_theirs(place: Place, tmp_path: Path) -> None:
    """A folder that a person names holds other programs' files as well, and perhaps another backup at work."""
    theirs = [tmp_path / name for name in ("film.mkv.part", "log-1.part", "pinfold-unfinished-x.db")]
    for file in theirs:
        file.write_text("half")
    abandoned = tmp_path / "pinfold-unfinished-abc.part"
    abandoned.write_text("half")
    with copying.unfinished(tmp_path) as part:
        assert not abandoned.exists()
        back_up(place, tmp_path)
        assert part.exists()
    assert not part.exists()
    assert [file.read_text() for file in theirs] == ["half"] * 3


def test_a_backup_replaces_nothing(place: Place, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for target in (taken, link):
        with pytest.raises(InvalidInputError, match="is there already"):
            back_up(place, target)
    with pytest.raises(InvalidInputError, match="There is no folder"):
        back_up(place, tmp_path / "no" / "folder.db")
    assert (taken.read_text(), (tmp_path / "nowhere").exists()) == ("mine", False)


def test_backups_are_the_users_alone_under_any_umask(
    place: Place, tmp_path: Path, unmasked: Callable[[], None]
) -> None:
    unmasked()
    made, other = back_up(place), back_up(place, tmp_path / "other.db")
    assert [stat.S_IMODE(file.stat().st_mode) for file in (made.path, other.path, place.backups)] == [
        0o600,
        0o600,
        0o700,
    ]


def test_backups_are_listed_with_what_their_names_say_the_newest_first(place: Place, tmp_path: Path) -> None:
    first, second = back_up(place), back_up(place)
    (place.backups / "log-schema1-seq1-notatime.db").touch()
    (place.backups / "pinfold-unfinished-abc.part").touch()
    assert backups_in(place.backups) == (second, first)
    assert (first.schema, first.size_bytes) == (SCHEMA_VERSION, first.path.stat().st_size)
    assert backups_in(tmp_path / "nowhere") == ()


def test_a_disk_without_room_gets_no_part_of_a_backup(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=50_000))
    with pytest.raises(NoSpaceError, match="backups; nothing was written"):
        back_up(place)
    assert list(place.backups.iterdir()) == []
