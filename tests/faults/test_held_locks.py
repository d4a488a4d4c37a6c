"""Locks in other hands, for short and for long: writers wait, or are told who has it, and nothing is lost (P12)."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.faults.history import Diary, Outcome
from tests.faults.lines import Server
from tests.faults.noting import ask, check, folder_of, look, pinning
from tests.server.hooking import HOOK, Client
from tests.server.peer import PATIENCE_S
from tests.store.children import child, line_of, tell

STRANGER = """
import sqlite3, sys

db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute(sys.argv[2])
db.execute("SELECT count(*) FROM event").fetchall()
print("held", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
print("free", flush=True)
"""
"""A program that knows nothing of the store's lock."""

HOLDER = """
import sys, time
from pathlib import Path
from pinfold.store.sqlite.gate import Gate

with Gate(Path(sys.argv[1])).hold():
    print("held", flush=True)
    time.sleep(6)
"""
"""One of ours that takes its time."""

BEGINNINGS = {"a long read": "BEGIN", "a write": "BEGIN IMMEDIATE"}


@contextmanager
def _asking(servers: list[Server], diaries: list[Diary]) -> Iterator[list[threading.Thread]]:
    """Let each server be asked for twelve pins in one breath; at the end all have answered."""
    threads = []
    for server, diary in zip(servers, diaries, strict=True):
        calls = [pinning(f"{diary.worker} {n}") for n in range(12)]
        threads.append(threading.Thread(target=ask, args=(server, diary, calls)))
    for thread in threads:
        thread.start()
    yield threads
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("lock", ["a write", pytest.param("a long read", marks=pytest.mark.full)])
def test_writes_while_a_stranger_holds_a_lock_are_all_kept(home: Path, project: Path, lock: str) -> None:
    diaries, seen = [Diary("a"), Diary("b")], Diary("reader")
    folder = folder_of(home, project)
    with ExitStack() as running:
        *servers, reader = (
            running.enter_context(Server(home, project, name)) for name in ("a", "b", "reader")
        )
        assert all(server.shake_hands() for server in (*servers, reader))
        for server, diary in zip(servers, diaries, strict=True):
            ask(server, diary, [pinning(f"{diary.worker} before")])
        look(reader, seen)
        stranger = running.enter_context(child(STRANGER, folder / "log.db", BEGINNINGS[lock]))
        assert line_of(stranger) == "held"
        with _asking(servers, diaries) as threads:
            look(reader, seen)
            if lock == "a write":
                assert [thread.is_alive() for thread in threads] == [True, True]
                assert len(seen.reads[-1].seen) == 2
                tell(stranger)
        if lock == "a long read":
            tell(stranger)
        assert line_of(stranger) == "free"
        look(reader, seen)
        assert [server.notes() for server in servers if "locked" in server.notes()] == []
    print(f"24 writes beside {lock}: {check(folder, [*diaries, seen])}")
    assert {write.outcome for diary in diaries for write in diary.writes} == {Outcome.OK}
    assert len(seen.reads[-1].seen) == 26


@pytest.mark.full
def test_a_lock_of_ours_that_is_held_for_six_seconds_is_waited_for(home: Path, project: Path) -> None:
    diary = Diary("a")
    with Server(home, project, "a") as server:
        assert server.shake_hands()
        ask(server, diary, [pinning("before")])
        with child(HOLDER, folder_of(home, project) / "log.lock") as holder:
            assert line_of(holder) == "held"
            begun = time.monotonic()
            ask(server, diary, [pinning(f"{n}") for n in range(3)])
            waited = time.monotonic() - begun
            assert holder.wait(20) == 0
        assert server.leave() == 0
    print(f"waited {waited:.1f} s: {check(folder_of(home, project), [diary])}")
    assert waited > 5
    assert {write.outcome for write in diary.writes} == {Outcome.OK}


@pytest.mark.full
def test_a_strangers_lock_that_is_held_for_too_long_is_busy_and_the_server_goes_on(
    home: Path, project: Path
) -> None:
    diary = Diary("a")
    with Server(home, project, "a") as server:
        assert server.shake_hands()
        ask(server, diary, [pinning("before")])
        with child(STRANGER, folder_of(home, project) / "log.db", "BEGIN IMMEDIATE") as stranger:
            assert line_of(stranger) == "held"
            answer = ask(server, diary, [pinning("refused")])[0]
            assert answer is not None
            assert "a program that does not queue for the store's lock" in answer.text
            look(server, diary)
            tell(stranger)
            assert line_of(stranger) == "free"
        ask(server, diary, [pinning("after")])
        assert server.leave() == 0
    print(check(folder_of(home, project), [diary]))
    assert [write.outcome for write in diary.writes] == [Outcome.OK, Outcome.FAIL, Outcome.OK]


def _starting_hook(client: Client) -> subprocess.Popen[bytes]:
    """Start a hook that has all it waits for."""
    given = client.folder / "payload.json"
    given.write_text(json.dumps(client.payload(source="startup")))
    with given.open("rb") as payload:
        return subprocess.Popen(
            [*HOOK, "session-start", "--client", "claude"],
            cwd=client.project,
            env=client.environment(),
            stdin=payload,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.mark.timeout(300)
@pytest.mark.parametrize("times", [2, pytest.param(15, marks=pytest.mark.full)])
def test_a_hook_and_a_server_that_start_together_are_both_served(tmp_path: Path, times: int) -> None:
    for n in range(times):
        folder = tmp_path / str(n)
        folder.mkdir()
        client, diary = Client(folder), Diary("server")
        with ExitStack() as both:
            if n % 2:
                hook = both.enter_context(_starting_hook(client))
            server = both.enter_context(Server(client.home, client.project, "server"))
            assert server.shake_hands()
            if not n % 2:
                hook = both.enter_context(_starting_hook(client))
            ask(server, diary, [pinning("first")])
            said, complaint = hook.communicate(timeout=PATIENCE_S)
            assert (hook.returncode, complaint, server.leave()) == (0, b"", 0)
            assert b"pinfold" in said
        check(folder_of(client.home, client.project), [diary])
        assert diary.writes[0].outcome is Outcome.OK
    print(f"{times} hooks and servers on {times} new stores: all served")
