"""How large a run is: the full one answers the budgets, the quick one shows that nothing went far astray."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes and repetitions of one run. Where `quick`, rows about growth are printed without a verdict."""

    quick: bool
    starts: int
    round_trips: int
    commands: int
    small_log: int
    small_history: int
    middle_history: int
    large_history: int
    queries: int
    spills: int
    slices: int
    writers: int
    pins_each: int
    writer_runs: int
    rebuilt: int
    transcript_lines: int
    imports: int
    imported_lines: int


FULL = Scale(
    quick=False,
    starts=15,
    round_trips=400,
    commands=15,
    small_log=1_000,
    small_history=10_000,
    middle_history=15_000,
    large_history=1_000_000,
    queries=500,
    spills=5,
    slices=200,
    writers=8,
    pins_each=500,
    writer_runs=2,
    rebuilt=1_000_000,
    transcript_lines=10_000,
    imports=5,
    imported_lines=350_000,
)
QUICK = Scale(
    quick=True,
    starts=5,
    round_trips=100,
    commands=7,
    small_log=1_000,
    small_history=2_000,
    middle_history=15_000,
    large_history=30_000,
    queries=100,
    spills=2,
    slices=50,
    writers=8,
    pins_each=60,
    writer_runs=1,
    rebuilt=50_000,
    transcript_lines=2_000,
    imports=2,
    imported_lines=7_000,
)
