"""Peak memory: of an idle server, of a spill, and of deriving everything anew from a long log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.client import Peer
from benchmarks.groups.artifacts import LARGE_BYTES, spilled, written
from benchmarks.groups.brief import run_python
from benchmarks.groups.start import ONE_TOOL
from benchmarks.memory import peak_bytes
from benchmarks.row import MIB, Row
from benchmarks.text import log_blocks

PEAK = Path(__file__).parents[1] / "peak.py"
_ABOVE_MIB = 64


def rows(bench: Bench) -> Iterator[Row]:
    """Yield idle, spill and rebuild; the rebuild comes last, since it rewrites a history."""
    yield _idle(bench)
    yield from _spill(bench)
    yield _rebuild(bench)


def _idle(bench: Bench) -> Row:
    place = bench.place()
    with bench.server(place) as server, bench.floor(place, "noop") as one_tool:
        ours = _idle_peak(server, "fetch_pointer", pointer="pins")
        floor = _idle_peak(one_tool, "noop")
    note = f"{ours / MIB:.0f} against {floor / MIB:.0f} MiB"
    return Row("memory", "peak of an idle server", ONE_TOOL, ours / floor, 1.5, note=note)


def _idle_peak(server: Peer, tool: str, **arguments: object) -> int:
    """Return the peak once everything is loaded: the list may be answered before that, a call cannot."""
    server.greet()
    server.tools()
    server.call(tool, **arguments)
    return peak_bytes(server.pid)


def _spill(bench: Bench) -> Iterator[Row]:
    place = bench.place()
    with bench.server(place) as server:
        idle = _idle_peak(server, "fetch_pointer", pointer="pins")
        spilled(server, written(place, "line.log", [b"one line\n"]))
        awake = peak_bytes(server.pid)
        spilled(server, written(place, "large.log", log_blocks(LARGE_BYTES, bench.seed)))
        peak = peak_bytes(server.pid)
    yield _above("an idle server", peak - idle)
    yield _above("a server that spilled one line", peak - awake)


def _above(floor: str, size_bytes: int) -> Row:
    return Row("memory", "spill of a 100 MB log, peak above", floor, size_bytes / MIB, _ABOVE_MIB, "MiB")


def _rebuild(bench: Bench) -> Row:
    history = bench.history(bench.scale.rebuilt)
    report = bench.folder / "rebuild.peak"
    run_python(history.place, str(PEAK), str(report), "rebuild")
    peak = int(report.read_text()) / MIB
    what = f"rebuild of {history.entries:,} events, peak"
    return Row("memory", what, "-", peak, 300, "MiB", judged=not bench.scale.quick)
