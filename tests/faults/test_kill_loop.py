"""kill -9 at random moments: what was acknowledged is there, the rest at most once, and nothing is half."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from pinfold.store.sqlite.store import open_store
from tests.faults.history import Diary, Outcome
from tests.faults.lines import Call, Server
from tests.faults.noting import ask, check, folder_of, look, pinning, saving, spilling, stored

WRITERS = 3
AT_ONCE = 3
LONGEST_LIFE_S = 0.25
STARTING_S = 0.6


@dataclass
class Writer:
    """One client whose server is killed again and again. Calls that got no answer are sent again first."""

    diary: Diary
    home: Path
    project: Path
    draw: random.Random
    kills: int = 0
    in_flight: int = 0
    unanswered: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._calls = self._new_calls()

    def _new_calls(self) -> Iterator[Call]:
        for number in itertools.count():
            key = f"{self.diary.worker}-{number}"
            match number % 5:
                case 3:
                    yield spilling(key, self.draw.randrange(1, 4_000))
                case 4:
                    yield saving(key)
                case _:
                    yield pinning(key)

    def live_once(self) -> None:
        """Start a server, write, and have it killed at a random moment: sometimes while it still starts."""
        starting = self.draw.random() < 0.2
        delay = self.draw.uniform(0, STARTING_S if starting else LONGEST_LIFE_S)
        with Server(self.home, self.project, self.diary.worker, cold=starting) as server:
            death = threading.Timer(delay, os.kill, (server.process.pid, signal.SIGKILL))
            if starting:
                death.start()
            if server.shake_hands() and self._write(server):
                if not starting:
                    death.start()
                while self._write(server):
                    pass
            death.join()
            server.process.wait()
            self.kills += server.process.returncode == -signal.SIGKILL

    def _write(self, server: Server) -> bool:
        """Send some calls at once, those without an answer first; False when the server is gone."""
        fresh = itertools.islice(self._calls, AT_ONCE - len(self.unanswered))
        calls = [*self.unanswered, *fresh]
        answers = ask(server, self.diary, calls)
        self.unanswered = [call for call, answer in zip(calls, answers, strict=True) if answer is None]
        self.in_flight += bool(self.unanswered)
        return not self.unanswered

    def settle(self) -> None:
        """Send what never got an answer to a server that lives, until nothing is open."""
        if not self.unanswered:
            return
        with Server(self.home, self.project, self.diary.worker) as server:
            assert server.shake_hands()
            while self.unanswered:
                assert self._write(server)
            assert server.leave() == 0


def _run(writers: list[Writer], reader: Diary, kills: int) -> None:
    """Let the writers live and die side by side until there were enough kills, and one server read meanwhile."""
    over = threading.Event()
    written = threading.Event()

    def write(writer: Writer) -> None:
        while sum(one.kills for one in writers) < kills:
            writer.live_once()
            written.set()
        writer.settle()

    def read() -> None:
        with Server(writers[0].home, writers[0].project, reader.worker) as server:
            assert server.shake_hands()
            while not over.is_set():
                written.wait(1)
                written.clear()
                look(server, reader)
            look(server, reader)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in writers]
    reading = threading.Thread(target=read)
    for thread in (reading, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    reading.join()


async def _check_artifacts(folder: Path) -> int:
    """Every artifact is whole: its last line says that it is the last. Return how many there are."""
    store = await open_store(folder, "shop")
    artifacts = await store.artifacts(None, 10_000)
    for artifact in artifacts:
        content = (await store.artifact_bytes(artifact.number, 0, artifact.size_bytes)).content
        lines = content.decode().splitlines()
        assert lines[-1] == f"{artifact.label} line {len(lines)} of {len(lines)}"
    await store.close()
    return len(artifacts)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [15, pytest.param(40, marks=pytest.mark.full)])
def test_what_was_acknowledged_survives_kills_and_a_retry_makes_nothing_twice(
    home: Path, project: Path, kills: int
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    writers = [Writer(Diary(f"w{n}"), home, project, random.Random(seed + n)) for n in range(WRITERS)]
    reader = Diary("reader")
    _run(writers, reader, kills)
    folder = folder_of(home, project)
    diaries = [*(writer.diary for writer in writers), reader]
    figures = check(folder, diaries)
    happened = sum(writer.kills for writer in writers)
    in_flight = sum(writer.in_flight for writer in writers)
    print(f"{happened} kills ({in_flight} with calls in flight), {figures}")
    writes = [write for diary in diaries for write in diary.writes]
    assert {event.key for event in stored(folder)} == {write.key for write in writes}
    assert [write.key for write in writes if write.outcome is Outcome.FAIL] == []
    assert anyio.run(_check_artifacts, folder) > 0
    assert happened >= kills
    assert in_flight >= kills // 3
    assert len(reader.reads) > 1
