"""Taking durations: ours and the floor in turn, so that a noisy moment strikes both."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.row import Pair, Spread

Sample = Callable[[], float]
"""Does something once and returns the seconds that count."""


def timed(act: Callable[[], object]) -> Sample:
    """Return a sample of the whole of `act`."""

    def sample() -> float:
        began = time.perf_counter()
        act()
        return time.perf_counter() - began

    return sample


def in_turn(ours: Sample, floor: Sample, runs: int, warm: int = 1) -> Pair:
    """Take `runs` samples of each, A B A B, after `warm` of each that do not count."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(warm + runs):
        taken[0].append(ours())
        taken[1].append(floor())
    return Pair(Spread.of(taken[0][warm:]), Spread.of(taken[1][warm:]))
