"""Bringing long transcripts into the log, against reading and parsing their lines; and in how much memory."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import BATCH, Bench
from benchmarks.groups.brief import run_python
from benchmarks.groups.memory import PEAK
from benchmarks.row import MIB, Row
from benchmarks.timing import in_turn, timed
from benchmarks.transcripts import session
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.values import Caller

FLOOR = "json.loads of its lines"
_BUDGET = 20.0
_SHARE = 15.0
"""Of the 20 times that a whole import may take; the rest is for reading, parsing and making messages."""

_SMALL_LINES = 350
_GROWTH_MIB = 32


def rows(bench: Bench) -> Iterator[Row]:
    """Yield what appending the messages of a transcript costs, what a whole import does, and how its memory grows."""
    yield _append(bench)
    yield from _command(bench)


def _append(bench: Bench) -> Row:
    said = list(session(bench.scale.transcript_lines, bench.seed))
    file = _written(bench, "session.jsonl", bench.scale.transcript_lines)

    def append() -> float:
        store = open_direct(bench.place().store_folder, "benchmark")
        try:
            messages = (each.message for each in said)
            began = time.perf_counter()
            while batch := list(itertools.islice(messages, BATCH)):
                store.append_messages(Caller("benchmark", "a-session", "import"), batch)
            return time.perf_counter() - began
        finally:
            store.close()

    pair = in_turn(append, timed(lambda: _parse(file)), bench.scale.imports)
    text_bytes = sum(len(each.message.text.encode()) for each in said)
    share = f"{text_bytes / file.stat().st_size:.0%} of its bytes are text"
    what = f"append of a transcript's {len(said):,} messages"
    speed = f"{text_bytes / pair.ours.median / 1e6:.1f} MB/s of text; {share}"
    return Row("import", what, FLOOR, pair.ratio, _SHARE, pair=pair, judged=not bench.scale.quick, note=speed)


def _command(bench: Bench) -> Iterator[Row]:
    """Import a long transcript and a short one, the process and its start included."""
    file = _written(bench, "long.jsonl", bench.scale.imported_lines)
    small = _peak(bench, _written(bench, "short.jsonl", _SMALL_LINES))
    peaks: list[int] = []
    runs = bench.scale.imports if bench.scale.quick else 1
    ours, floor = timed(lambda: peaks.append(_peak(bench, file))), timed(lambda: _parse(file))
    pair = in_turn(ours, floor, runs, warm=0)
    size = f"{file.stat().st_size / 1e6:,.0f} MB"
    judged = not bench.scale.quick
    what = f"`pinfold import` of a transcript of {size}"
    note = f"{file.stat().st_size / pair.ours.median / 1e6:.1f} MB/s"
    yield Row("import", what, FLOOR, pair.ratio, _BUDGET, pair=pair, judged=judged, note=note)
    growth = (max(peaks) - small) / MIB
    note = f"{max(peaks) / MIB:.0f} against {small / MIB:.0f} MiB"
    yield Row("import", f"its peak memory, {size}, above", "1 MB", growth, _GROWTH_MIB, "MiB", note=note)


def _written(bench: Bench, name: str, lines: int) -> Path:
    file = bench.folder / name
    with file.open("wb") as transcript:
        transcript.writelines(each.line + b"\n" for each in session(lines, bench.seed))
    return file


def _parse(file: Path) -> None:
    with file.open("rb") as lines:
        for line in lines:
            json.loads(line)


def _peak(bench: Bench, file: Path) -> int:
    """Import a file into a new store; return the peak memory in bytes."""
    report = bench.folder / "import.peak"
    run_python(bench.place(), str(PEAK), str(report), "import", str(file))
    return int(report.read_text())
