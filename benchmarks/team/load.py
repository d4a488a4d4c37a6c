"""Many agents at once on one server, and what is found in its stores afterwards."""

from __future__ import annotations

import multiprocessing
import signal
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import anyio

from benchmarks.team.agent import MESSAGES, TURN, Agent, Orders, Told
from benchmarks.team.serving import Server
from pinfold.server.stores import open_by_address
from pinfold.store.remote.contract import verb

_LIFE_S = 1_800
_WARMING = -1
"""The number of the agent that goes first and is not counted."""

_KINDS = {
    "pin": "decision.pinned",
    "spill": "artifact.spilled",
    "checkpoint": "state.checkpointed",
    "import": "message.appended",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How many agents do how many calls each, on how many projects; `restarts` of the server are spread over them."""

    agents: int = 50
    calls: int = 48
    projects: int = 1
    pause_s: float = 0.0
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of the answered calls of one kind."""

    count: int
    p50: float
    p95: float
    p99: float
    longest: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Times:
        """Summarize; percentiles are samples that were seen (nearest rank)."""
        ordered = sorted(each * 1_000 for each in seconds)
        p95, p99 = (ordered[-(-len(ordered) * share // 100) - 1] for share in (95, 99))
        return cls(len(ordered), statistics.median(ordered), p95, p99, ordered[-1])


@dataclass(frozen=True, slots=True)
class Result:
    """What a run gave. `lost` and `doubled` are events that the log has too few or too many of."""

    times: dict[str, Times]
    took_s: float
    failed: tuple[str, ...]
    retried: int
    restarts: int
    lost: int
    doubled: int
    cpu_s: float
    peak_bytes: int

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return self.times["all"].count

    @property
    def per_s(self) -> float:
        """Answered calls in a second."""
        return self.calls / self.took_s


def run(server: Server, plan: Plan) -> Result:
    """Start the server, let the agents work, and look at what its stores hold."""
    names = [f"project-{n}" for n in range(plan.projects)]
    token = server.token("agents", names)
    server.start()
    _warm(server, names, token)
    orders = [
        Orders(n, server.port, names[n % len(names)], token, plan.calls, plan.pause_s)
        for n in range(plan.agents)
    ]
    before_s = server.cpu_s
    told, took_s, restarts = _at_work(server, orders, plan.restarts)
    server.stop()
    lost, doubled = _looked_at(server, orders)
    kinds = {act: [s for each in told for s in each.took.get(act, ())] for act in dict.fromkeys(TURN)}
    kinds["all"] = [seconds for each in kinds.values() for seconds in each]
    return Result(
        times={act: Times.of(seconds) for act, seconds in kinds.items() if seconds},
        took_s=took_s,
        failed=tuple(error for each in told for error in each.failed),
        retried=sum(each.retried for each in told),
        restarts=restarts,
        lost=lost,
        doubled=doubled,
        cpu_s=server.cpu_s - before_s,
        peak_bytes=server.peak_bytes,
    )


def _warm(server: Server, names: Sequence[str], token: str) -> None:
    """Open each project and load what the first call of a kind loads, in this process as well: agents are its forks."""
    for name in ("append_messages", "brief_state", "start_session"):
        verb(name)
    for name in names:
        agent = Agent(Orders(_WARMING, server.port, name, token, len(TURN), 0))
        agent.work(lambda: None)
        agent.close()


def _at_work(server: Server, orders: Sequence[Orders], restarts: int) -> tuple[list[Told], float, int]:
    context = multiprocessing.get_context("fork")
    line, done = context.Barrier(len(orders) + 1, timeout=_LIFE_S), context.Value("q", 0)
    agents, ends = [], []
    for each in orders:
        ours, theirs = context.Pipe(duplex=False)
        agents.append(context.Process(target=_live, args=(each, line, done, theirs), daemon=True))
        ends.append(ours)
    for agent in agents:
        agent.start()
    line.wait()
    began = time.perf_counter()
    made = _restart(server, done, sum(each.calls for each in orders), restarts)
    told = [end.recv() for end in ends]
    took_s = time.perf_counter() - began
    for agent in agents:
        agent.join(_LIFE_S)
    return told, took_s, made


def _live(orders: Orders, line: Barrier, done: Any, told: Connection) -> None:
    """What an agent's process does."""

    def count() -> None:
        with done.get_lock():
            done.value += 1

    agent = Agent(orders)
    line.wait()
    told.send(agent.work(count))
    agent.close()


def _restart(server: Server, done: Any, calls: int, restarts: int) -> int:
    """Kill and end the server in turn, each time that another share of the calls is done; return how often."""
    for number in range(restarts):
        while done.value < calls * (number + 1) // (restarts + 1):
            time.sleep(0.01)
        server.stop(signal.SIGTERM if number % 2 else signal.SIGKILL)
        server.start()
    return restarts


def astray(orders: Sequence[Orders], found: Counter[str]) -> tuple[int, int]:
    """Return how many events one project has too few, and too many, of what its agents were told is kept.

    `found` counts the events of its log by their kind; the agent that warmed the server is among them.
    """
    wanted = Counter(act for each in orders for act in acts_of(each.number, each.calls))
    wanted.update(acts_of(_WARMING, len(TURN)))
    missing = [
        wanted[act] * (MESSAGES if act == "import" else 1) - found[kind] for act, kind in _KINDS.items()
    ]
    return sum(max(0, each) for each in missing), sum(max(0, -each) for each in missing)


def acts_of(number: int, calls: int) -> list[str]:
    """Return what an agent does, in order."""
    return [TURN[(at + number) % len(TURN)] for at in range(calls)]


def _looked_at(server: Server, orders: Sequence[Orders]) -> tuple[int, int]:
    """Verify every project and sum up what is astray."""
    lost = doubled = 0
    for project in sorted({each.project for each in orders}):
        server.verify(project)
        found = anyio.run(_kinds, server.address_of(project), project)
        few, many = astray([each for each in orders if each.project == project], found)
        lost, doubled = lost + few, doubled + many
    return lost, doubled


async def _kinds(address: str, project: str) -> Counter[str]:
    store, after = await open_by_address(address, project), 0
    found: Counter[str] = Counter()
    try:
        while events := await store.logged(after):
            found.update(event.kind for event in events)
            after = events[-1].seq
    finally:
        await store.close()
    return found
