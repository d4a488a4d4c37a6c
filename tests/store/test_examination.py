"""What `pinfold doctor` sees of a store: each trouble by its name, and never a byte changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pinfold.store.findings import Finding, ok
from pinfold.store.sqlite.backups import backups_in, name_of
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.examination import examine, examine_engine
from pinfold.store.sqlite.examination import files as file_checks
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import checkpoint, pin, say, spill
from tests.store.children import child, line_of, tell
from tests.store.test_gate import HOLDER

pytestmark = pytest.mark.anyio
Trouble = Callable[[Place], object]
MEBIBYTE = 1024 * 1024


@pytest.fixture
async def sound(place: Place) -> Place:
    """Return a store with something in it, of which there is a backup."""
    store = await open_store(place.folder, "demo")
    await say(store, "shall we?")
    await pin(store, "use Redis for sessions")
    await spill(store, b"a line of the build\n" * 9_000, label="build")
    await checkpoint(store, goal="ship it")
    await store.close()
    _back_up(place, datetime.now(UTC))
    return place


def _back_up(place: Place, at: datetime) -> None:
    place.backups.mkdir(mode=0o700, exist_ok=True)
    made = place.backups / name_of(3, 5, at.isoformat(timespec="microseconds").replace("+00:00", "Z"))
    shutil.copyfile(place.database, made)
    made.chmod(0o600)


def _backup(place: Place) -> Path:
    return next(iter(backups_in(place.backups))).path


def _sql(*statements: str) -> Trouble:
    def run(place: Place) -> None:
        with closing(sqlite3.connect(place.database)) as link:
            for statement in statements:
                assert link.execute(statement).rowcount != 0, statement
            link.commit()

    return run


def _overwrite(offset: int, content: bytes) -> Trouble:
    def run(place: Place) -> None:
        with place.database.open("r+b") as file:
            file.seek(offset)
            file.write(content)

    return run


def _grow_log_ahead(place: Place) -> None:
    place.log_ahead.touch(0o600)
    os.truncate(place.log_ahead, 65 * MEBIBYTE)


def _age_backup(place: Place) -> None:
    _backup(place).unlink()
    _back_up(place, datetime.now(UTC) - timedelta(days=40))


def _leave(name: str) -> Trouble:
    return lambda place: (place.folder / name).touch(0o600)


TROUBLES: dict[str, tuple[Trouble, str, str, str]] = {
    "open folder": (lambda place: place.folder.chmod(0o755), "permissions", "bad", "others can get at it"),
    "open backup": (lambda place: _backup(place).chmod(0o644), "permissions", "bad", ".db: others"),
    "second name": (
        lambda place: os.link(place.database, place.folder.parent / "twin"),
        "database",
        "bad",
        "not a regular file with one name",
    ),
    "empty": (lambda place: os.truncate(place.database, 0), "database", "bad", "is empty, though"),
    "gone": (lambda place: place.database.unlink(), "database", "bad", "is gone, though"),
    "store-id gone": (lambda place: place.store_id.unlink(), "database", "warn", "store-id is missing"),
    "another program's": (_sql("PRAGMA application_id = 7"), "database", "bad", "belongs to another program"),
    "header of rubbish": (_overwrite(0, b"\xa5" * 100), "database", "bad", "is damaged"),
    "newer": (_sql("PRAGMA user_version = 99"), "schema", "bad", "a newer pinfold wrote it"),
    "older": (_sql("PRAGMA user_version = 2"), "schema", "ok", "an earlier pinfold's"),
    "index of the log gone": (
        _sql("DROP INDEX event_key"),
        "schema",
        "bad",
        "the index event_key is missing",
    ),
    "trigger": (
        _sql("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM pin; END"),
        "schema",
        "bad",
        "the trigger t is not ours",
    ),
    "log ahead": (_grow_log_ahead, "log ahead", "warn", "has been reading the store for long"),
    "body changed": (
        _sql("UPDATE event SET body = replace(body, 'Redis', 'Mongo') WHERE seq = 3"),
        "log",
        "bad",
        "event 3: its body was changed",
    ),
    "event gone": (_sql("DELETE FROM event WHERE seq = 3"), "log", "bad", "event 3: missing"),
    "body no text": (
        _sql("UPDATE event SET body = CAST(x'7b22ff227d' AS TEXT) WHERE seq = 3"),
        "log",
        "bad",
        "event 3: its body was changed",
    ),
    "words gone": (
        _sql("INSERT INTO words (words) VALUES ('delete-all')"),
        "search index",
        "bad",
        "no words",
    ),
    "entries gone": (_sql("DELETE FROM entry"), "search index", "bad", "knows no pin"),
    "scrub owed": (_sql("INSERT INTO meta VALUES ('scrub_owed', x'00')"), "scrub", "warn", "may still stand"),
    "no backup": (lambda place: _backup(place).unlink(), "backup", "warn", "none"),
    "old backup": (_age_backup, "backup", "warn", "40 days old"),
    "left by a kill": (_leave("log.db.new"), "leftovers", "warn", "log.db.new"),
    "a write cut off": (_leave("log.db-journal"), "contents", "warn", "is half written is undone"),
    "half a backup": (_leave("backups/one.part"), "leftovers", "warn", "one.part"),
}


def _said(place: Place, subject: str) -> Finding:
    """Return what is said of one thing; when several are said, the worst."""
    found = [each for each in examine(place.folder) if each.subject == subject] or [ok(subject, "not told")]
    return max(found, key=lambda each: ("ok", "warn", "bad").index(each.state))


def _digests(place: Place) -> dict[str, str]:
    """Of all files but those in which SQLite only notes who reads."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in place.folder.rglob("*")
        if path.is_file() and not path.name.endswith("-shm") and path.stat().st_size
    }


async def test_of_a_sound_store_everything_is_ok_and_nothing_is_changed(sound: Place) -> None:
    before = _digests(sound)
    found = list(examine(sound.folder))
    assert [each for each in found if each.state != "ok"] == []
    assert [each.subject for each in found] == [
        *file_checks.FILE_CHECKS,
        "schema",
        "journal",
        "file",
        "log",
        "search index",
        "scrub",
    ]
    assert "5 events; the chain holds from 1 to 5" in [each.found for each in found]
    assert _digests(sound) == before
    engine = examine_engine()
    assert (engine.state, engine.advice) == ("ok", "")


@pytest.mark.parametrize("name", TROUBLES)
async def test_each_trouble_is_named_with_what_to_do_and_left_as_it_is(sound: Place, name: str) -> None:
    make, subject, state, said = TROUBLES[name]
    assert _said(sound, subject).state == "ok"
    make(sound)
    before = _digests(sound)
    found = _said(sound, subject)
    assert (found.state, said in found.found) == (state, True), found
    assert found.advice
    assert _digests(sound) == before


async def test_rubbish_in_any_page_never_ends_the_look(sound: Place) -> None:
    whole = sound.database.read_bytes()
    noticed = 0
    pages = range(0, len(whole), 4_096)
    for at in pages:
        sound.database.write_bytes(whole[:at] + b"\xa5" * 4_096 + whole[at + 4_096 :])
        noticed += any(each.state == "bad" for each in examine(sound.folder))
        assert sound.database.read_bytes()[at : at + 4_096] == b"\xa5" * 4_096
    print(f"{len(pages)} pages spoiled, {noticed} noticed")
    assert noticed >= len(pages) * 0.8


async def test_a_lock_that_is_held_is_said_with_the_process_and_for_how_long(
    sound: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_checks, "_LONG_HELD_S", 5)
    with child(HOLDER, sound.lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        assert _said(sound, "lock").found == f"held by pid {holder.pid} for 0 s"
        a_while_ago = time.time() - 42
        os.utime(sound.lock, (a_while_ago, a_while_ago))
        late = _said(sound, "lock")
        assert (late.state, late.found) == ("warn", f"held by pid {holder.pid} for 42 s")
        tell(holder)
        assert line_of(holder) == "free"
        assert _said(sound, "lock").found == "free"


async def test_a_disk_that_runs_full_is_said_before_it_is(
    sound: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shutil.disk_usage(sound.folder).free
    monkeypatch.setattr(file_checks, "_SPARE_BYTES", 2 * free)
    assert _said(sound, "space").state == "warn"
    monkeypatch.setattr(file_checks, "_TIGHT_BYTES", 2 * free)
    assert _said(sound, "space").state == "bad"


async def test_a_filesystem_that_cannot_carry_the_log_ahead_is_said(
    sound: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_checks, "can_carry_wal", lambda _: False)
    monkeypatch.setattr("pinfold.store.sqlite.opening.can_carry_wal", lambda _: False)
    assert _said(sound, "filesystem").state == "warn"
    journal = _said(sound, "journal")
    assert (journal.state, "move it back to a local disk" in journal.found) == ("bad", True)
