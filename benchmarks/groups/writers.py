"""Several processes that write into one file, against one that does all of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import anyio

from benchmarks.bench import Bench, Place, decision
from benchmarks.client import LIFE_S, Peer, PeerError
from benchmarks.row import Row
from benchmarks.text import Prose
from benchmarks.timing import in_turn
from pinfold.store.sqlite.store import open_store

_READY_S = 60


class _Race:
    """One kind of race, on a new store each time; counts what was refused and what is missing."""

    def __init__(self, bench: Bench, writers: int, pins_each: int) -> None:
        self._bench = bench
        self._writers = writers
        self._pins_each = pins_each
        self.refused = 0
        self.missing = 0

    def run(self) -> float:
        """Let all writers begin at once; return the seconds until the last one is done."""
        place = self._bench.place()
        with ExitStack() as stack, ThreadPoolExecutor(self._writers) as pool:
            peers = [stack.enter_context(self._bench.server(place)) for _ in range(self._writers)]
            for peer in peers:
                peer.greet()
            for writer, peer in enumerate(peers):
                peer.call(
                    "pin_decision",
                    text=f"Writer {writer} is here",
                    why="the first call loads what later ones need",
                )
            line = threading.Barrier(self._writers + 1, timeout=_READY_S)
            turns = [pool.submit(self._pin, peer, writer, line) for writer, peer in enumerate(peers)]
            line.wait()
            began = time.perf_counter()
            self.refused += sum(turn.result(LIFE_S) for turn in turns)
            taken = time.perf_counter() - began
        self.missing += self._writers * (1 + self._pins_each) - anyio.run(_live_pins, place)
        return taken

    def _pin(self, peer: Peer, writer: int, line: threading.Barrier) -> int:
        prose, refused = Prose(self._bench.seed + writer), 0
        texts = [decision(writer * self._pins_each + at, prose) for at in range(self._pins_each)]
        line.wait()
        for text in texts:
            try:
                peer.call("pin_decision", text=text, why=f"writer {writer}")
            except PeerError:
                refused += 1
        return refused


async def _live_pins(place: Place) -> int:
    store = await open_store(place.store_folder, "benchmark")
    try:
        return (await store.status()).live_pins
    finally:
        await store.close()


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the time of all together against one alone, then what was lost or refused."""
    scale = bench.scale
    whole = scale.writers * scale.pins_each
    together, alone = _Race(bench, scale.writers, scale.pins_each), _Race(bench, 1, whole)
    pair = in_turn(together.run, alone.run, scale.writer_runs, warm=0)
    what = f"{scale.writers} processes, each {scale.pins_each} pins, one file"
    yield Row(
        "writers", what, f"one process, {whole:,} pins", pair.ratio, 2.0, pair=pair, judged=not scale.quick
    )
    astray = together.refused + together.missing
    yield Row("writers", "pins lost or refused among them", "-", astray, 0, "pins")
