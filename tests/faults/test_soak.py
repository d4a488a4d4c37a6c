"""For as long as `PINFOLD_SOAK_S` says: servers are killed and come and go, and one that stays must not grow."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.history import Diary
from tests.faults.leaks import descriptors
from tests.faults.lines import Server
from tests.faults.lives import Writer, live_and_leave
from tests.faults.noting import check, folder_of, pinning

ROUND_S = 60.0
KILLED = 2
COMING_AND_GOING = 2
MIB = 1024 * 1024
GROWTH_BYTES = 48 * MIB
GROWTH_DESCRIPTORS = 4
KEPT_BYTES = 96 * MIB
"""What a store's files may come to in a round: 64 MiB of write-ahead log and some tens of thousands of events."""

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="growth is read from /proc")


@dataclass(frozen=True, slots=True)
class Size:
    """What a process has in memory, and how many descriptors are open."""

    bytes: int
    descriptors: int

    @classmethod
    def of(cls, pid: int) -> Size:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
        return cls(pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{pid}/fd")))


class Steady:
    """The server that stays: it is asked the same few things all the time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.calls = 0

    def work(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            key = f"steady {self.calls % 50}"
            answers = [
                self.server.call("pin_decision", **pinning(key).arguments),
                self.server.call("search_history", query=key),
                self.server.call("fetch_pointer", pointer="brief"),
                self.server.call("fetch_pointer", pointer="P999999"),
            ]
            assert [answer.failed for answer in answers] == [False, False, False, True]
            self.calls += len(answers)


def _round(steady: Steady, folder: Path, seed: int, length_s: float) -> str:
    """Let servers die, come and go on a new store for some time; check their histories and return the figures."""
    project = folder / "shop"
    project.mkdir(parents=True)
    home = folder / "home"
    end = time.monotonic() + length_s
    draw = random.Random(seed)
    writers = [
        Writer(Diary(f"killed {n}"), home, project, random.Random(draw.random())) for n in range(KILLED)
    ]
    leavers = [Diary(f"leaver {n}") for n in range(COMING_AND_GOING)]

    def is_over() -> bool:
        return time.monotonic() > end

    def die(writer: Writer) -> None:
        while not is_over():
            writer.live_once()
        writer.settle()

    def come_and_go(diary: Diary) -> None:
        while not is_over():
            live_and_leave(home, project, diary, 1)

    threads = [threading.Thread(target=die, args=(writer,)) for writer in writers]
    threads += [threading.Thread(target=come_and_go, args=(diary,)) for diary in leavers]
    threads.append(threading.Thread(target=steady.work, args=(is_over,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = check(folder_of(home, project), [*(writer.diary for writer in writers), *leavers])
    kept = sum(file.stat().st_size for file in folder_of(home, project).iterdir())
    assert kept < KEPT_BYTES
    return f"{sum(writer.kills for writer in writers)} kills, {figures}, {kept / MIB:.1f} MiB kept"


@linux
@pytest.mark.full
@pytest.mark.timeout(0)
@pytest.mark.skipif("PINFOLD_SOAK_S" not in os.environ, reason="for as long as PINFOLD_SOAK_S says")
def test_for_a_long_time_nothing_is_lost_and_what_stays_does_not_grow(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    length_s = float(os.environ["PINFOLD_SOAK_S"])
    end = time.monotonic() + length_s
    (tmp_path / "steady").mkdir()
    with Server(tmp_path / "home", tmp_path / "steady", "steady") as server:
        assert server.shake_hands()
        steady = Steady(server)
        steady.work(lambda: steady.calls > 400)
        first, ours = Size.of(server.process.pid), descriptors()
        print(
            f"\nseed {seed}: for {length_s:.0f} s; the steady server has {first.bytes / MIB:.0f} MiB at first"
        )
        number = 0
        while number == 0 or time.monotonic() < end:
            figures = _round(steady, tmp_path / str(number), seed + number, min(ROUND_S, length_s))
            now = Size.of(server.process.pid)
            print(
                f"round {number}: {figures}; {steady.calls} steady calls, {now.bytes / MIB:.0f} MiB,"
                f" {now.descriptors} descriptors",
                flush=True,
            )
            assert now.bytes - first.bytes < GROWTH_BYTES
            assert now.descriptors - first.descriptors <= GROWTH_DESCRIPTORS
            assert descriptors() - ours <= GROWTH_DESCRIPTORS
            number += 1
        assert server.leave() == 0
