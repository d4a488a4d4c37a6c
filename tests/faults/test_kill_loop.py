"""kill -9 at random moments: what was acknowledged is there, the rest at most once, and nothing is half."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from pinfold.server.settings import read_settings
from pinfold.store.results import VerifyReport
from pinfold.store.sqlite.store import SqliteStore, open_store
from tests.faults.lines import Answer, Call, Server

WRITERS = 3
AT_ONCE = 3
LONGEST_LIFE_S = 0.25
STARTING_S = 0.6


@dataclass
class Writer:
    """One client whose server is killed again and again. Calls that got no answer are sent again first."""

    name: str
    home: Path
    project: Path
    draw: random.Random
    kills: int = 0
    in_flight: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)
    unanswered: list[Call] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._calls = self._new_calls()

    def _new_calls(self) -> Iterator[Call]:
        for number in itertools.count():
            key = f"{self.name}-{number}"
            match number % 5:
                case 3:
                    lines = "\n".join(f"{key} line {n}" for n in range(self.draw.randrange(1, 4_000)))
                    yield Call("spill_artifact", {"content": lines, "label": key, "key": key})
                case 4:
                    yield Call("checkpoint_state", {"goal": key, "pending": [f"{key} item"], "key": key})
                case _:
                    yield Call("pin_decision", {"text": f"decision {key}", "why": "measured", "key": key})

    def live_once(self) -> None:
        """Start a server, write, and have it killed at a random moment: sometimes while it still starts."""
        starting = self.draw.random() < 0.2
        delay = self.draw.uniform(0, STARTING_S if starting else LONGEST_LIFE_S)
        with Server(self.home, self.project, self.name) as server:
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
        self.tried |= {call.arguments["key"] for call in calls}
        answers = server.together(calls)
        self.unanswered = [call for call, answer in zip(calls, answers, strict=True) if answer is None]
        self.in_flight += bool(self.unanswered)
        for call, answer in zip(calls, answers, strict=True):
            if answer is not None:
                self._note(call.arguments["key"], answer)
        return not self.unanswered

    def _note(self, key: str, answer: Answer) -> None:
        if answer.failed:
            self.failures.append(f"{key}: {answer.text}")
        else:
            self.acknowledged[key] = str(answer.facts["receipt"])

    def settle(self) -> None:
        """Send what never got an answer to a server that lives, until nothing is open."""
        if not self.unanswered:
            return
        with Server(self.home, self.project, self.name) as server:
            assert server.shake_hands()
            while self.unanswered:
                assert self._write(server)
            assert server.leave() == 0


def _run(writers: list[Writer], kills: int) -> None:
    """Let the writers live and die side by side until there were enough kills."""

    def work(writer: Writer) -> None:
        while sum(one.kills for one in writers) < kills:
            writer.live_once()
        writer.settle()

    threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _events(database: Path) -> list[tuple[int, str, str]]:
    """Seq, key and digest of every event, read past the store."""
    with closing(sqlite3.connect(database)) as link:
        return link.execute("SELECT seq, coalesce(key, ''), hex(digest) FROM event ORDER BY seq").fetchall()


async def _check(folder: Path, writers: list[Writer]) -> VerifyReport:
    store = await open_store(folder, "shop")
    report = await store.verify()
    await _check_artifacts(store, writers)
    await store.close()
    return report


async def _check_artifacts(store: SqliteStore, writers: list[Writer]) -> None:
    """Every artifact is whole: its last line is the one before its count of lines."""
    keys = {key for writer in writers for key in writer.tried}
    for artifact in await store.artifacts(None, 10_000):
        assert artifact.label in keys
        content = (await store.artifact_bytes(artifact.number, 0, artifact.size_bytes)).content
        assert content.decode().splitlines()[-1] == f"{artifact.label} line {artifact.lines - 1}"


def _check_log(database: Path, writers: list[Writer]) -> int:
    """Compare receipts and keys with the log; return how many acknowledged writes are missing or changed."""
    events = _events(database)
    assert [seq for seq, _, _ in events] == list(range(1, len(events) + 1))
    keyed = [key for _, key, _ in events if key]
    assert len(keyed) == len(set(keyed))
    assert set(keyed) == {key for writer in writers for key in writer.tried}
    found = {key: f"{seq}:{digest[:12].lower()}" for seq, key, digest in events if key}
    return sum(
        found.get(key) != receipt for writer in writers for key, receipt in writer.acknowledged.items()
    )


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [25, pytest.param(150, marks=pytest.mark.full)])
def test_what_was_acknowledged_survives_kills_and_a_retry_makes_nothing_twice(
    home: Path, project: Path, kills: int
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    writers = [Writer(f"w{n}", home, project, random.Random(seed + n)) for n in range(WRITERS)]
    _run(writers, kills)
    folder = read_settings({"PINFOLD_HOME": str(home)}, project).store_folder
    lost = _check_log(folder / "log.db", writers)
    report = anyio.run(_check, folder, writers)
    happened = sum(writer.kills for writer in writers)
    in_flight = sum(writer.in_flight for writer in writers)
    acknowledged = sum(len(writer.acknowledged) for writer in writers)
    print(f"{happened} kills ({in_flight} with calls in flight), {acknowledged} acknowledged, {lost} lost")
    assert [failure for writer in writers for failure in writer.failures] == []
    assert (lost, report.problems) == (0, ())
    assert happened >= kills
    assert in_flight >= kills // 3
    assert acknowledged > kills
