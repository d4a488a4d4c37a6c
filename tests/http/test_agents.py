"""Many agents on one server, and servers that are killed under them: one log explains all that they did and saw."""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.history import Outcome
from tests.faults.noting import check
from tests.http.agents import PROJECT, Agent, Where
from tests.http.serving import Served, served
from tests.server.peer import PATIENCE_S


def _team(server: Served, count: int, calls: int) -> tuple[Where, list[Agent]]:
    where = Where(server.port)
    tokens = [server.token(f"agent-{n}", PROJECT) for n in range(count)]
    return where, [Agent(where, token, f"a{n}", calls) for n, token in enumerate(tokens)]


def _write_count(calls: int) -> int:
    return sum(n % 5 in (0, 1, 4) for n in range(calls))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("count", "calls"), [(4, 5), pytest.param(50, 6, marks=pytest.mark.full)])
def test_agents_on_one_server_are_all_served_and_their_log_explains_what_they_saw(
    tmp_path: Path, count: int, calls: int
) -> None:
    with served(tmp_path) as server:
        _, agents = _team(server, count, calls)
        begun = time.monotonic()
        for agent in agents:
            agent.start()
        for agent in agents:
            agent.join()
        took_s = time.monotonic() - begun
        server.end()
    assert [agent.failed for agent in agents if agent.failed] == []
    assert sum(agent.cut for agent in agents) == 0
    figures = check(server.home / "projects" / PROJECT, [agent.diary for agent in agents])
    took = statistics.quantiles([each * 1000 for agent in agents for each in agent.took], n=100)
    done = sum(len(agent.took) for agent in agents)
    print(
        f"{count} agents, {done} calls in {took_s:.1f} s ({done / took_s:.0f}/s), "
        f"p50 {took[49]:.0f} ms, p99 {took[98]:.0f} ms: {figures}"
    )
    writes = [write for agent in agents for write in agent.diary.writes]
    assert [write.outcome for write in writes] == [Outcome.OK] * count * _write_count(calls)


def test_servers_that_are_killed_under_agents_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    kills, calls = 3, 10
    with ExitStack() as lives:
        server = lives.enter_context(served(tmp_path))
        where, agents = _team(server, 4, calls)
        for agent in agents:
            agent.start()
        for number in range(1, kills + 1):
            _wait_for_answers(agents, number * 8)
            server.process.kill()
            server.process.wait(PATIENCE_S)
            server = lives.enter_context(served(tmp_path))
            where.move(server.port)
        for agent in agents:
            agent.join()
        server.end()
    assert [agent.failed for agent in agents if agent.failed] == []
    assert sum(agent.cut for agent in agents) >= kills
    print(check(server.home / "projects" / PROJECT, [agent.diary for agent in agents]))
    known = {w.key for a in agents for w in a.diary.writes if w.outcome is Outcome.OK}
    assert len(known) == len(agents) * _write_count(calls)


def _wait_for_answers(agents: list[Agent], count: int) -> None:
    ends = time.monotonic() + PATIENCE_S
    while sum(len(agent.took) for agent in agents) < count:
        assert time.monotonic() < ends, [agent.failed for agent in agents]
        time.sleep(0.005)
