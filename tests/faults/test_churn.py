"""Servers that come and go, stand still, or are left behind, on one store with others at work (P6, P7, P12)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import pytest

from pinfold.store.errors import BusyError
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.faults.history import Diary, Outcome
from tests.faults.lines import Server
from tests.faults.noting import ask, check, folder_of, look, pinning, saving, spilling
from tests.faults.sites import STOP_IN_COMMIT, planted
from tests.store.children import child, line_of

WORKERS = 3
LEFT_BEHIND = 9

IDLE = """
import sys
from pathlib import Path
import anyio
from pinfold.store.sqlite.store import open_store

async def main():
    store = await open_store(Path(sys.argv[1]), "shop")
    await store.status()
    print("idle", flush=True)
    sys.stdin.readline()

anyio.run(main)
"""


def _live(home: Path, project: Path, diary: Diary, lives: int) -> None:
    """Begin a server, let it write and read, end it as a client does, and again: the last one out checkpoints."""
    for life in range(lives):
        with Server(home, project, diary.worker) as server:
            assert server.shake_hands()
            name = f"{diary.worker} life {life}"
            answers = ask(
                server, diary, [pinning(f"{name} a"), spilling(f"{name} b", 900), saving(f"{name} c")]
            )
            assert [answer.text for answer in answers if answer and answer.failed] == []
            look(server, diary)
            assert server.leave() == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("lives", [1, pytest.param(8, marks=pytest.mark.full)])
def test_servers_that_come_and_go_lose_nothing_of_each_other(home: Path, project: Path, lives: int) -> None:
    diaries = [Diary(f"w{n}") for n in range(WORKERS)]
    threads = [threading.Thread(target=_live, args=(home, project, diary, lives)) for diary in diaries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = check(folder_of(home, project), diaries)
    print(f"{WORKERS * lives} servers came and went: {figures}")
    assert sum(len(diary.writes) for diary in diaries) == 3 * WORKERS * lives
    assert {write.outcome for diary in diaries for write in diary.writes} == {Outcome.OK}


def test_two_servers_that_make_twenty_each_at_once_keep_all_forty(home: Path, project: Path) -> None:
    diaries = [Diary("a"), Diary("b")]
    with Server(home, project, "a") as one, Server(home, project, "b") as two:
        threads = [
            threading.Thread(target=_make_twenty, args=(server, diary))
            for server, diary in zip((one, two), diaries, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        look(one, diaries[0])
    figures = check(folder_of(home, project), diaries)
    print(figures)
    assert len(diaries[0].reads[0].seen) == 40


def _make_twenty(server: Server, diary: Diary) -> None:
    assert server.shake_hands()
    answers = ask(server, diary, [pinning(f"{diary.worker} {n}") for n in range(20)])
    assert all(answer is not None and not answer.failed for answer in answers)


def test_processes_left_behind_with_the_store_open_keep_nobody_from_writing(
    home: Path, project: Path
) -> None:
    folder = folder_of(home, project)
    diary = Diary("new")
    with ExitStack() as left:
        idle = [left.enter_context(child(IDLE, folder)) for _ in range(LEFT_BEHIND)]
        assert [line_of(each) for each in idle] == ["idle"] * LEFT_BEHIND
        os.kill(idle[0].pid, signal.SIGSTOP)
        with Server(home, project, "new") as server:
            _make_twenty(server, diary)
            look(server, diary)
        assert [each.poll() for each in idle] == [None] * LEFT_BEHIND
    print(f"{LEFT_BEHIND} left behind: {check(folder, [diary])}")


@contextmanager
def _standing_still(server: Server) -> Iterator[None]:
    """Wait until a server has been stopped, and let it go on behind the block."""
    _, status = os.waitpid(server.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


@pytest.mark.full
def test_a_server_that_stands_still_idle_keeps_nobody_from_writing(home: Path, project: Path) -> None:
    diaries = [Diary("still"), Diary("other")]
    with Server(home, project, "still", cold=True) as still, Server(home, project, "other") as other:
        assert still.shake_hands()
        _make_twenty(still, diaries[0])
        os.kill(still.process.pid, signal.SIGSTOP)
        with _standing_still(still):
            _make_twenty(other, diaries[1])
            look(other, diaries[1])
        ask(still, diaries[0], [pinning("still again")])
        look(still, diaries[0])
    print(check(folder_of(home, project), diaries))
    assert {write.outcome for diary in diaries for write in diary.writes} == {Outcome.OK}


async def _told_while_held(folder: Path) -> tuple[str, int]:
    """Who has the lock, as a third process is told, and how many pins it can read meanwhile."""
    store = await open_store(folder, "shop", 0.3)
    try:
        with pytest.raises(BusyError) as busy:
            await pin(store, "never")
        return busy.value.holder, len(await store.pins(None, 99))
    finally:
        await store.close()


def test_a_server_that_stands_still_in_a_commit_is_named_and_all_go_on_when_it_does(
    home: Path, project: Path
) -> None:
    flag = home.parent / "stop now"
    site = planted(home.parent / "site", STOP_IN_COMMIT) | {"STOP_IF_THERE": str(flag)}
    diaries = [Diary("still"), Diary("other")]
    folder = folder_of(home, project)
    with Server(home, project, "still", site) as still, Server(home, project, "other") as other:
        assert still.shake_hands()
        _make_twenty(still, diaries[0])
        assert other.shake_hands()
        look(other, diaries[1])
        flag.touch()
        stuck = threading.Thread(target=ask, args=(still, diaries[0], [pinning("stuck")]))
        stuck.start()
        with _standing_still(still):
            waiting = threading.Thread(target=ask, args=(other, diaries[1], [pinning("waiting")]))
            waiting.start()
            assert anyio.run(_told_while_held, folder) == (f"pid {still.process.pid}", 20)
            assert waiting.is_alive()
        stuck.join()
        waiting.join()
        look(other, diaries[1])
    print(check(folder, diaries))
    assert {write.outcome for diary in diaries for write in diary.writes} == {Outcome.OK}
    assert len(diaries[1].reads[-1].seen) == 22
