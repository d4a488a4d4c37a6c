"""How cost grows with projects, agents and entries: the same few calls after each step."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import anyio

from benchmarks.team import load
from benchmarks.team.beside import Calls
from benchmarks.team.line import Line
from benchmarks.team.load import Times
from benchmarks.team.serving import Server, served
from benchmarks.text import Prose
from pinfold.server.stores import open_by_address
from pinfold.store.commands import Message
from pinfold.store.values import Caller

BATCH = 500
_REPEAT = 40


@dataclass(frozen=True, slots=True)
class Step:
    """What was measured at one size. `build_s`: how long it took to get there from the step before."""

    size: int
    times: dict[str, Times]
    build_s: float
    peak_bytes: int
    open_files: int
    disk_bytes: int
    connections: int


def by_projects(sizes: Sequence[int], store: str | None) -> Iterator[Step]:
    """Yield steps of so many small projects on one server, all of them in use: two pins each."""
    with served(store) as server:
        token = server.token("grown", [f"project-{n}" for n in range(max(sizes))])
        server.start()
        made = 0
        for size in sizes:
            began = time.perf_counter()
            for number in range(made, size):
                _pin_two(server, f"project-{number}", token)
            made = size
            built = time.perf_counter() - began
            yield _step(server, size, _times(server, [f"project-{n}" for n in range(size)], token), built)


def by_entries(sizes: Sequence[int], store: str | None) -> Iterator[Step]:
    """Yield steps of one project with so many messages of about 400 characters."""
    with served(store) as server:
        token = server.token("grown", ["project-0"])
        made = 0
        for size in sizes:
            began = time.perf_counter()
            anyio.run(_fill, server.address_of("project-0"), made, size)
            made, built = size, time.perf_counter() - began
            server.start()
            _pin_two(server, "project-0", token)
            yield _step(server, size, _times(server, ["project-0"], token), built)
            server.stop()


def by_agents(sizes: Sequence[int], store: str | None, calls: int) -> Iterator[tuple[int, load.Result]]:
    """Yield what a run of so many agents gives, on a new server each time; `calls` in all."""
    for size in sizes:
        with served(store) as server:
            yield size, load.run(server, load.Plan(size, max(12, calls // size)))


def _pin_two(server: Server, project: str, token: str) -> None:
    with closing(Line(server.port, project, token, "grown")) as line:
        for number in (1, 2):
            line.call(
                "pin_decision",
                text=f"{project} keeps {number} of them",
                why="it was measured",
                key=f"{number}",
            )


def _times(server: Server, projects: Sequence[str], token: str) -> dict[str, Times]:
    """Ask each kind of call in turn, of one project after the other, over one connection each."""
    calls, taken = Calls(), dict[str, list[float]]()
    for number in range(_REPEAT):
        project = projects[number * len(projects) // _REPEAT]
        with closing(Line(server.port, project, token, "grown")) as line:
            line.call("fetch_pointer", pointer="P1")  # connects
            for act, do in calls.of(line.call).items():
                began = time.perf_counter()
                do()
                taken.setdefault(act, []).append(time.perf_counter() - began)
    return {act: Times.of(seconds) for act, seconds in taken.items()}


def _step(server: Server, size: int, times: dict[str, Times], build_s: float) -> Step:
    disk, connections = (server.disk_bytes(), 0) if server.store is None else _in_database(server.store)
    return Step(size, times, build_s, server.peak_bytes, server.open_files, disk, connections)


def _in_database(address: str) -> tuple[int, int]:
    """Return what a database takes on disk, and how many connections of pinfold it has."""
    import psycopg

    with psycopg.connect(address) as db:
        size = db.execute("SELECT pg_database_size(current_database())").fetchone()
        count = db.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pinfold'"
        ).fetchone()
    assert size is not None
    assert count is not None
    return int(size[0]), int(count[0])


async def _fill(address: str, first: int, last: int) -> None:
    store, prose = await open_by_address(address, "project-0"), Prose(11)
    caller = Caller("benchmark", "history", actor="import")
    try:
        for start in range(first, last, BATCH):
            messages = [
                Message(("user", "assistant")[n % 2], prose.entry(n, last), f"m{n}", tokens=100)
                for n in range(start, min(start + BATCH, last))
            ]
            await store.append_messages(caller, messages)
    finally:
        await store.close()
