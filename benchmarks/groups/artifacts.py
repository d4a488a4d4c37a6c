"""Spilling a large file, and reading parts of it back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

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
        small = spilled(server, written(place, "small.log", log_blocks(SMALL_BYTES, bench.seed)))
        pair, large = _spills(bench, place, server)
        yield Row(
            "spill", "spill of a 100 MB log", "SHA-256, write and fsync of it", pair.ratio, 3.0, pair=pair
        )
        pointers = [
            f"{log['pointer']}#L{log['lines'] // 2}-{log['lines'] // 2 + 39}" for log in (large, small)
        ]
        yield _slice_row("40 lines in the middle of 100 MB", bench, server, pointers)
        yield from _long_lines(bench, place, server)


def _spills(bench: Bench, place: Place, server: Peer) -> tuple[Pair, dict[str, Any]]:
    """Spill different logs, since equal bytes are stored once; return the last one's reply too."""
    seeds = range(bench.seed + 1, bench.seed + 1 + bench.scale.spills)
    names = [written(place, f"large-{seed}.log", log_blocks(LARGE_BYTES, seed)) for seed in seeds]
    replies: list[dict[str, Any]] = []
    ours, floor = iter(names), iter(names)
    pair = in_turn(
        timed(lambda: replies.append(spilled(server, next(ours)))),
        timed(lambda: _hash_and_write(place.project / next(floor))),
        bench.scale.spills,
        warm=0,
    )
    return pair, replies[-1]


def written(place: Place, name: str, blocks: Iterable[bytes]) -> str:
    """Write a file into the project and return its name."""
    with (place.project / name).open("wb") as file:
        file.writelines(blocks)
    return name


def spilled(server: Peer, name: str) -> dict[str, Any]:
    """Spill a file and return what the reply says of it."""
    reply: dict[str, Any] = server.call("spill_artifact", path=name)["structuredContent"]
    return reply


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


def _long_lines(bench: Bench, place: Place, server: Peer) -> Iterator[Row]:
    sizes = (LARGE_BYTES, SMALL_BYTES)
    names = [written(place, f"line-{size}", one_line_blocks(size, bench.seed)) for size in sizes]
    held = [spilled(server, name)["pointer"] for name in names]
    yield _slice_row("the start of one line of 100 MB", bench, server, [f"{pointer}#L1" for pointer in held])
    middles = [
        f"{pointer}#B{size // 2}-{size // 2 + 2999}" for pointer, size in zip(held, sizes, strict=True)
    ]
    yield _slice_row("bytes in the middle of one line of 100 MB", bench, server, middles)


def _slice_row(what: str, bench: Bench, server: Peer, pointers: Sequence[str]) -> Row:
    large, small = pointers
    pair = in_turn(
        timed(lambda: server.call("fetch_pointer", pointer=large)),
        timed(lambda: server.call("fetch_pointer", pointer=small)),
        bench.scale.slices,
        warm=5,
    )
    return Row("slice", what, "the same of 1 MB", pair.ratio, _GROWTH, pair=pair)
