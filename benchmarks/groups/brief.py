"""The brief: over the wire and as a command, and whether it grows with the log."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.bench import Bench, History, Place
from benchmarks.client import LIFE_S
from benchmarks.row import Pair, Row
from benchmarks.timing import in_turn, timed

BRIEF = ("-m", "pinfold", "brief")
NOTHING = ("-c", "pass")
GROWTH = 1.2


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the command against nothing, then command and call on a long log against a short one."""
    small, large = bench.history(bench.scale.small_log), bench.history(bench.scale.large_history)
    runs = bench.scale.commands
    pair = in_turn(
        timed(lambda: run_python(small.place, *BRIEF)), timed(lambda: run_python(small.place, *NOTHING)), runs
    )
    yield Row("brief", "`pinfold brief`, as a command", "`python -c pass`", pair.ratio, 15.0, pair=pair)
    pair = in_turn(
        timed(lambda: run_python(large.place, *BRIEF)), timed(lambda: run_python(small.place, *BRIEF)), runs
    )
    yield _growth(bench, "`pinfold brief`, as a command", pair)
    yield _growth(bench, 'fetch_pointer("brief")', _fetched(bench, large, small))


def _growth(bench: Bench, what: str, pair: Pair) -> Row:
    large, small = bench.scale.large_history, bench.scale.small_log
    return Row(
        "brief",
        f"{what}, {large:,} events",
        f"the same, {small:,} events",
        pair.ratio,
        GROWTH,
        pair=pair,
        judged=not bench.scale.quick,
    )


def _fetched(bench: Bench, large: History, small: History) -> Pair:
    with bench.server(large.place) as ours, bench.server(small.place) as floor:
        ours.greet()
        floor.greet()
        return in_turn(
            timed(lambda: ours.call("fetch_pointer", pointer="brief")),
            timed(lambda: floor.call("fetch_pointer", pointer="brief")),
            bench.scale.round_trips,
            warm=10,
        )


def run_python(place: Place, *arguments: str, given: str = "") -> str:
    """Run this Python with arguments and an input to its end; return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=place.environment,
        cwd=place.project,
        input=given,
        capture_output=True,
        text=True,
        timeout=LIFE_S,
        check=True,
    )
    return done.stdout
