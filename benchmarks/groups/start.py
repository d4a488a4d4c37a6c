"""Starting a server, and what one call costs on its way there and back."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

from benchmarks.bench import Bench, decision
from benchmarks.client import Peer
from benchmarks.row import Row
from benchmarks.text import Prose
from benchmarks.timing import in_turn, timed

ONE_TOOL = "a one-tool server on the same SDK"


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the start up to the list and up to the first call, a read's round trip and a write's."""
    yield _list(bench)
    yield _first_call(bench)
    yield _read(bench)
    yield _write(bench)


def _list(bench: Bench) -> Row:
    place = bench.place()
    pair = in_turn(
        lambda: _until(lambda: bench.server(place), Peer.tools),
        lambda: _until(lambda: bench.floor(place, "noop"), Peer.tools),
        bench.scale.starts,
    )
    return Row("start", "start to the first tools/list answer", ONE_TOOL, pair.ratio, 1.25, pair=pair)


def _first_call(bench: Bench) -> Row:
    """Measure what an early answer to `tools/list` leaves out: the SDK loaded, and the store open."""
    place = bench.place()
    pair = in_turn(
        lambda: _until(
            lambda: bench.server(place), lambda server: server.call("fetch_pointer", pointer="pins")
        ),
        lambda: _until(lambda: bench.floor(place, "noop"), lambda floor: floor.call("noop")),
        bench.scale.starts,
    )
    note = "no budget of its own: that of the list is shown"
    what = "start to the first answered call"
    return Row("start", what, ONE_TOOL, pair.ratio, 1.25, pair=pair, judged=False, note=note)


def _until(start: Callable[[], Peer], ask: Callable[[Peer], object]) -> float:
    began = time.perf_counter()
    with start() as server:
        server.greet()
        ask(server)
        return time.perf_counter() - began


def _read(bench: Bench) -> Row:
    place = bench.place()
    with bench.server(place) as server, bench.floor(place, "noop") as floor:
        server.greet()
        floor.greet()
        server.call("pin_decision", text=decision(1, Prose(bench.seed)), why="the first one")
        pair = in_turn(
            timed(lambda: server.call("fetch_pointer", pointer="P1")),
            timed(lambda: floor.call("noop")),
            bench.scale.round_trips,
            warm=10,
        )
    return Row("call", 'fetch_pointer("P1"), there and back', "a no-op tool", pair.ratio, 1.5, pair=pair)


def _write(bench: Bench) -> Row:
    place, prose, numbers = bench.place(), Prose(bench.seed), itertools.count(1)
    with bench.server(place) as server, bench.floor(place, "insert") as floor:
        server.greet()
        floor.greet()
        pair = in_turn(
            timed(
                lambda: server.call("pin_decision", text=decision(next(numbers), prose), why=prose.words(8))
            ),
            timed(lambda: floor.call("insert", text=decision(next(numbers), prose))),
            bench.scale.round_trips // 4,
            warm=5,
        )
    return Row(
        "call", "pin_decision, there and back", "no-op and one fsync'd insert", pair.ratio, 2.0, pair=pair
    )
