"""Spilling a large file, and reading parts of it back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Place
from benchmarks.client import Peer
from benchmarks.row import Pair, Row
from benchmarks.text import log_blocks, one_line_blocks
from benchmarks.timing import in_turn, timed

LARGE_BYTES = 100_000_000
SMALL_BYTES = 1_000_000
_BLOCK_BYTES = 1024 * 1024
_GROWTH = 1.2


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the spill's time, then slices of large artifacts against slices of small ones."""
    place = bench.place()
    with bench.server(place) as server:
        server.greet()
        yield _spill(bench, place, server)
        yield from _slices(bench, place, server)


def _spill(bench: Bench, place: Place, server: Peer) -> Row:
    seeds = range(bench.seed, bench.seed + bench.scale.spills + 1)
    names = [written(place, f"large-{seed}.log", log_blocks(LARGE_BYTES, seed)) for seed in seeds]
    ours, floor = iter(names), iter(names)
    pair = in_turn(
        timed(lambda: spilled(server, next(ours))),
        timed(lambda: _hash_and_write(place.project / next(floor))),
        bench.scale.spills,
    )
    return Row("spill", "spill of a 100 MB log", "SHA-256, write and fsync of it", pair.ratio, 3.0, pair=pair)


def written(place: Place, name: str, blocks: Iterable[bytes]) -> str:
    with (place.project / name).open("wb") as file:
        file.writelines(blocks)
    return name


def spilled(server: Peer, name: str) -> str:
    pointer: str = server.call("spill_artifact", path=name)["structuredContent"]["pointer"]
    return pointer


def _hash_and_write(source: Path) -> None:
    digest = hashlib.sha256()
    copy = source.with_suffix(".copy")
    with source.open("rb") as reading, copy.open("wb") as writing:
        while block := reading.read(_BLOCK_BYTES):
            digest.update(block)
            writing.write(block)
        writing.flush()
        os.fsync(writing.fileno())
    copy.unlink()


def _slices(bench: Bench, place: Place, server: Peer) -> Iterator[Row]:
    logs, lines = (
        [
            spilled(server, written(place, f"{kind}-{size}.txt", blocks(size, bench.seed + 100)))
            for size in (LARGE_BYTES, SMALL_BYTES)
        ]
        for kind, blocks in (("log", log_blocks), ("line", one_line_blocks))
    )
    large, small = (f"{pointer}#L{_middle(server, pointer)}" for pointer in logs)
    yield _slice_row("40 lines in the middle of 100 MB", _sliced(bench, server, large, small))
    large, small = (f"{pointer}#L1" for pointer in lines)
    yield _slice_row("the start of one line of 100 MB", _sliced(bench, server, large, small))
    large, small = (
        f"{pointer}#B{size // 2}-{size // 2 + 2999}"
        for pointer, size in zip(lines, (LARGE_BYTES, SMALL_BYTES), strict=True)
    )
    yield _slice_row("bytes in the middle of one line of 100 MB", _sliced(bench, server, large, small))


def _middle(server: Peer, pointer: str) -> str:
    held = server.call("fetch_pointer", pointer=pointer)["structuredContent"]
    first = int(held["lines"]) // 2
    return f"{first}-{first + 39}"


def _sliced(bench: Bench, server: Peer, large: str, small: str) -> Pair:
    return in_turn(
        timed(lambda: server.call("fetch_pointer", pointer=large)),
        timed(lambda: server.call("fetch_pointer", pointer=small)),
        bench.scale.slices,
        warm=5,
    )


def _slice_row(what: str, pair: Pair) -> Row:
    return Row("slice", what, "the same of 1 MB", pair.ratio, _GROWTH, pair=pair)
