"""A store of an earlier schema, opened by many at once, by one that is killed, and where there is no room."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from pinfold.store.errors import DamagedError, NoSpaceError
from pinfold.store.sqlite.backing_up import problem_of
from pinfold.store.sqlite.backups import backups_in
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place, identity
from pinfold.store.sqlite.copying import snapshot, state_of
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.sqlite.verifying import verify
from tests.faults.dying import killed_at, some_of, steps_of
from tests.faults.lines import Server
from tests.store.children import child, ended, line_of, tell
from tests.store.old_stores import lay_out
from tests.store.refused_upgrade import refuse_upgrades

AT_ONCE = 8
OLDEST = 1

OPENING = """
import sys
from pathlib import Path
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.values import Caller

print("ready", flush=True)
sys.stdin.readline()
store = open_direct(Path(sys.argv[1]), "demo")
pinned = store.pin_decision(PinDecision(Caller("test", sys.argv[2]), f"decision of {sys.argv[2]}", "measured"))
print(pinned.receipt, flush=True)
store.close()
"""

SMALL = """
import resource, sys
from pathlib import Path
from pinfold.store.errors import PinfoldError
from pinfold.store.sqlite.direct import open_direct

resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
try:
    open_direct(Path(sys.argv[1]), "demo")
except PinfoldError as error:
    print(error.code, error)
"""


def _old(folder: Path) -> Place:
    place = Place(folder)
    lay_out(place, OLDEST)
    return place


@pytest.fixture
def old(tmp_path: Path) -> Place:
    return _old(tmp_path / "store")


def _digest(place: Place) -> str:
    return hashlib.sha256(place.database.read_bytes()).hexdigest()


def _schema(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        return identity(db)[1]


def _check_backups(place: Place) -> list[int]:
    """Return the schemas of all backups; each really is what its name says."""
    found = backups_in(place.backups)
    for backup in found:
        with snapshot(backup.path) as db:
            state = state_of(db)
        assert (state.schema, state.seq) == (backup.schema, backup.seq)
        assert problem_of(backup.path, state) == ""
    return [backup.schema for backup in found]


def test_eight_processes_that_open_an_old_store_at_once_are_all_served_after_one_upgrade(old: Place) -> None:
    with snapshot(old.database) as db:
        before = state_of(db)
    with ExitStack() as stack:
        running = [stack.enter_context(child(OPENING, old.folder, f"c{n}")) for n in range(AT_ONCE)]
        assert {line_of(one) for one in running} == {"ready"}
        for one in running:
            tell(one)
        receipts = sorted(int(line_of(one).partition(":")[0]) for one in running)
    print(f"{AT_ONCE} processes at once, {len(receipts)} acknowledged")
    assert len(set(receipts)) == AT_ONCE
    assert receipts[0] > before.seq
    assert _check_backups(old) == [OLDEST]
    assert backups_in(old.backups)[0].seq == before.seq
    assert verify(old.database).problems == ()


@pytest.mark.full
def test_eight_servers_that_start_at_once_on_an_old_store_are_all_served(home: Path, project: Path) -> None:
    from pinfold.server.settings import read_settings

    place = _old(read_settings({"PINFOLD_HOME": str(home)}, project).store_folder)
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(home, project, f"s{n}")) for n in range(AT_ONCE)]
        assert all(server.shake_hands() for server in servers)
        answers = [server.call("pin_decision", text=f"d{n}", why="w") for n, server in enumerate(servers)]
        assert [answer.text for answer in answers if answer.failed] == []
        assert {server.leave() for server in servers} == {0}
    assert _check_backups(place) == [OLDEST]
    assert verify(place.database).problems == ()


@pytest.mark.parametrize("kills", [12, pytest.param(None, marks=pytest.mark.full)])
def test_an_upgrade_that_is_killed_leaves_a_store_that_the_next_start_brings_up(
    old: Place, tmp_path: Path, kills: int | None
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    steps = steps_of("upgrade", old.folder, tmp_path / "worlds")
    worlds = killed_at("upgrade", old.folder, tmp_path / "worlds", some_of(steps, kills, seed))
    left = {"half files": 0, "backups": 0, "upgraded": 0}
    for folder in worlds.values():
        place = Place(folder)
        left["half files"] += any(place.folder.glob("backups/*.part"))
        left["backups"] += len(_check_backups(place))
        left["upgraded"] += _schema(place.database) == SCHEMA_VERSION
        _check_next_start(place)
    print(f"seed {seed}: {len(worlds)} kills over {steps} steps left {left}")
    assert 0 < left["backups"] < len(worlds)
    assert left["half files"]
    assert left["upgraded"]


def _check_next_start(place: Place) -> None:
    store = open_direct(place.folder, "demo")
    assert "Retry 7 times" in [pin.text for pin in store.brief_state(None).pins]
    store.close()
    assert _schema(place.database) == SCHEMA_VERSION
    assert verify(place.database).problems == ()
    assert _check_backups(place) == [OLDEST]
    assert list(place.folder.glob("backups/*.part*")) == []


def test_an_upgrade_without_room_for_its_backup_is_refused_and_leaves_the_old_file(old: Place) -> None:
    before = _digest(old)
    said = ended(SMALL, old.folder).stdout
    assert said.startswith(f"no_space {old.backups} takes no more bytes"), said
    assert "backed up before it is brought up to date" in said
    assert (_digest(old), _schema(old.database)) == (before, OLDEST)
    assert list(old.backups.iterdir()) == []
    open_direct(old.folder, "demo").close()
    assert _check_backups(old) == [OLDEST]


def test_an_upgrade_without_room_is_refused_before_a_byte_is_copied(
    old: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=50_000))
    with pytest.raises(NoSpaceError):
        open_direct(old.folder, "demo")
    assert list(old.backups.iterdir()) == []


def test_a_damaged_old_store_is_neither_brought_up_nor_called_a_backup(old: Place) -> None:
    with closing(sqlite3.connect(old.database)) as db:
        db.execute("UPDATE event SET body = replace(body, '7 times', '8 times') WHERE seq = 2")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = _digest(old)
    with pytest.raises(DamagedError, match=r"event 2: its body was changed.*No backup was made"):
        open_direct(old.folder, "demo")
    assert (_digest(old), list(old.backups.iterdir())) == (before, [])


def test_upgrades_that_fail_again_and_again_leave_one_backup(
    old: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_upgrades(monkeypatch)
    for _ in range(3):
        with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
            open_direct(old.folder, "demo")
    assert _check_backups(old) == [OLDEST]


def test_a_store_that_is_brought_up_under_a_server_is_read_by_it_and_not_written(
    home: Path, project: Path
) -> None:
    from pinfold.server.settings import read_settings

    place = Place(read_settings({"PINFOLD_HOME": str(home)}, project).store_folder)
    with Server(home, project, "older") as server:
        assert server.shake_hands()
        server.call("pin_decision", text="Use port 5544", why="5432 is taken")
        with closing(sqlite3.connect(place.database)) as db:
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        refused = server.call("pin_decision", text="too late", why="measured")
        assert refused.failed
        assert "a newer pinfold wrote it" in refused.text
        assert "Use port 5544" in server.call("fetch_pointer", pointer="pins").text
    with closing(sqlite3.connect(place.database)) as db:
        assert db.execute("SELECT count(*) FROM event WHERE body LIKE '%too late%'").fetchone()[0] == 0
