"""kill -9 where it hurts: at calls to the disk and at statements, from the first start to the close. P1, P3, P4, P5.

A server of the real kind over real pipes; what kills it was brought into its process from outside (`inside/`).
"""

from __future__ import annotations

import itertools
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from pinfold.server.settings import read_settings
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from tests.faults.inside.faults import FILE_CALL, Faults
from tests.faults.lines import Call, Server, environment
from tests.faults.past import log_after_a_kill, log_of
from tests.store.old_stores import lay_out

pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("file_layer")]

WRITES = re.compile(
    r"(before|after) (BEGIN IMMEDIATE|INSERT|UPDATE|DELETE|CREATE|ALTER|COMMIT|close|PRAGMA journal)"
)
"""Of all statements, those of a write, and the connection's end."""


@dataclass
class Client:
    """Writes through servers that die. What got no answer is sent again, under the same key, to the next one."""

    home: Path
    project: Path
    before: int = 0
    kills: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    acknowledged: dict[str, str] = field(default_factory=dict)
    landed: dict[str, str] = field(default_factory=dict)
    resolved: int = 0
    unanswered: list[Call] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def place(self) -> Place:
        """Where the servers keep the project's store."""
        return Place(read_settings({"PINFOLD_HOME": str(self.home)}, self.project).store_folder)

    def _calls(self) -> list[Call]:
        key = f"k{next(self.numbers)}"
        lines = "\n".join(f"{key} line {n}" for n in range(600))
        return [
            *self.unanswered,
            Call("pin_decision", {"text": f"decision {key}", "why": "measured", "key": f"{key}-pin"}),
            Call("spill_artifact", {"content": lines, "label": key, "key": f"{key}-log"}),
            Call("checkpoint_state", {"goal": key, "pending": [f"{key} item"], "key": f"{key}-state"}),
        ]

    def live(self, faults: Faults) -> int:
        """Start a server, write, have it close; return how it ended."""
        calls, self.unanswered = self._calls(), []
        with Server(self.home, self.project, "server", faults.environment()) as server:
            answering = server.shake_hands()
            for call in calls if answering else ():
                self.tried.add(call.arguments["key"])
                answering = answering and self._ask(server, call)
            code = server.leave()
        if code == -signal.SIGKILL:
            self.kills.append(faults.point)
            self._look()
        return code

    def _ask(self, server: Server, call: Call) -> bool:
        answer = server.together([call])[0]
        if answer is None:
            self.unanswered.append(call)
            return False
        assert not answer.failed, answer.text
        key, receipt = call.arguments["key"], str(answer.facts["receipt"])
        self.acknowledged[key] = receipt
        if key in self.landed:
            assert receipt == self.landed.pop(key)
            self.resolved += 1
        return True

    def _look(self) -> None:
        """Hold what is on the disk against what was acknowledged and tried, and remember what landed unheard."""
        log = log_after_a_kill(self.place, self.home)
        found = {key: str(receipt) for key, receipt in log.keyed.items()}
        assert self.acknowledged.items() <= found.items()
        assert found.keys() <= self.tried
        new = log.receipts[self.before :]
        assert not new or new[-1] in log.keyed.values(), "half a call"
        unheard = {call.arguments["key"] for call in self.unanswered}
        self.landed |= {key: receipt for key, receipt in found.items() if key in unheard}

    def settle(self) -> None:
        """Send what never got an answer to a server that lives, and check the store through and through."""
        assert self.live(Faults()) == 0
        assert self.unanswered == []
        assert self.landed == {}
        self._look()
        assert anyio.run(_problems, self.place.folder) == ()

    def __str__(self) -> str:
        """The figures."""
        return (
            f"{len(self.kills)} kills, {len(self.acknowledged)} acknowledged, 0 lost,"
            f" {self.resolved} that landed unheard found again by their key"
        )


async def _problems(folder: Path) -> tuple[str, ...]:
    store = await open_store(folder, "shop")
    report = await store.verify()
    await store.close()
    return report.problems


def _points(client: Client) -> Counter[str]:
    """Live once without a fault and return how often each point of a write was passed."""
    passed = client.home.with_name("passed")
    assert client.live(Faults(passed=str(passed))) == 0
    counted = Counter(passed.read_text().splitlines())
    return Counter({name: n for name, n in counted.items() if name == FILE_CALL or WRITES.match(name)})


def _draw(points: Counter[str], number: int, draw: random.Random) -> list[Faults]:
    """Choose points at random: half of them calls to the disk, half statements, each of those at most once."""
    named = [name for name in points if name != FILE_CALL]
    chosen = [FILE_CALL] * (number // 2) + draw.sample(named, min(len(named), number - number // 2))
    return [Faults(name, draw.randint(1, points[name])) for name in chosen]


def _seeded() -> random.Random:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    return random.Random(seed)


def _new_client(folder: Path, name: str) -> Client:
    project = folder / name / "shop"
    project.mkdir(parents=True)
    return Client(folder / name / "home", project)


def _killed_once(client: Client, faults: Faults) -> Client:
    """Kill a client's first server, and have the next one take it up."""
    client.live(faults)
    client.settle()
    return client


def _side_by_side(work: Callable[[int], Client], number: int) -> list[Client]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, range(number)))


def test_servers_that_are_killed_at_the_commit_lose_nothing_and_a_retry_makes_nothing_twice(
    tmp_path: Path,
) -> None:
    client = _new_client(tmp_path, "one")
    assert client.live(Faults("before COMMIT", 3)) == -signal.SIGKILL
    assert client.live(Faults("after COMMIT", 2)) == -signal.SIGKILL
    client.settle()
    print(client)
    assert client.resolved == 1


@pytest.mark.full
def test_servers_that_are_killed_at_any_point_of_their_life_lose_nothing(tmp_path: Path) -> None:
    first = _new_client(tmp_path, "first")
    assert first.live(Faults()) == 0
    points, draw = _points(first), _seeded()
    commits = [Faults("after COMMIT", draw.randint(1, 3)) for _ in range(4)]
    chosen = draw.sample(both := _draw(points, 10, draw) + commits, len(both))

    def live_and_die(half: int) -> Client:
        client = _new_client(tmp_path, f"client {half}")
        for faults in chosen[half::2]:
            client.live(faults)
        client.settle()
        return client

    clients = _side_by_side(live_and_die, 2)
    print(*clients, sep="\n")
    assert sum(len(client.kills) for client in clients) >= len(chosen) * 0.8
    assert sum(client.resolved for client in clients) > 0


@pytest.mark.full
def test_a_first_start_that_is_killed_at_any_point_is_taken_up_by_the_next(tmp_path: Path) -> None:
    points, draw = _points(_new_client(tmp_path, "first")), _seeded()
    chosen = _draw(points, 5, draw)
    clients = _side_by_side(
        lambda number: _killed_once(_new_client(tmp_path, str(number)), chosen[number]), len(chosen)
    )
    print(*(f"{faults}: {client}" for faults, client in zip(chosen, clients, strict=True)), sep="\n")
    assert sum(len(client.kills) for client in clients) >= len(chosen) * 0.8


def _with_old_store(folder: Path, name: str) -> Client:
    client = _new_client(folder, name)
    lay_out(client.place, 1)
    client.before = len(log_of(client.place.database).receipts)
    return client


@pytest.mark.full
def test_an_upgrade_that_is_killed_is_done_again_and_loses_nothing(tmp_path: Path) -> None:
    draw = _seeded()
    points = _points(_with_old_store(tmp_path, "first"))
    upgrading = [name for name in points if re.search("ALTER|CREATE", name)]
    chosen = [Faults(name) for name in (*draw.sample(upgrading, 2), "before COMMIT", "after COMMIT")]
    clients = _side_by_side(
        lambda number: _killed_once(_with_old_store(tmp_path, str(number)), chosen[number]), len(chosen)
    )
    print(*(f"{faults}: {client}" for faults, client in zip(chosen, clients, strict=True)), sep="\n")
    assert [len(client.kills) for client in clients] == [1] * len(chosen)


def _rebuild(client: Client, faults: Faults) -> int:
    command = [sys.executable, "-m", "pinfold", "rebuild"]
    around = environment(client.home, client.project) | faults.environment()
    return subprocess.run(command, env=around, capture_output=True, check=False, timeout=60).returncode


@pytest.mark.full
def test_a_rebuild_that_is_killed_leaves_the_views_as_they_were(tmp_path: Path) -> None:
    client = _new_client(tmp_path, "one")
    assert client.live(Faults()) == 0
    for point, nth in (
        ("after DELETE FROM pin", 1),
        ("after INSERT INTO words", 3),
        ("before COMMIT", 1),
        ("after COMMIT", 1),
    ):
        assert _rebuild(client, Faults(point, nth)) == -signal.SIGKILL
        assert anyio.run(_problems, client.place.folder) == ()
    assert _rebuild(client, Faults()) == 0
    client.settle()
