"""What a benchmark gives: spreads of durations, and rows that set a value beside its budget."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "over", "-"]
MIB = 1024 * 1024


class SkippedError(Exception):
    """A group cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How long something took, in seconds, over `count` samples."""

    count: int
    minimum: float
    median: float
    p99: float
    maximum: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Summarize at least one sample; the 99th percentile is a sample that was seen (nearest rank)."""
        ordered = sorted(samples)
        rank = -(-len(ordered) * 99 // 100) - 1
        return cls(len(ordered), ordered[0], statistics.median(ordered), ordered[rank], ordered[-1])


@dataclass(frozen=True, slots=True)
class Pair:
    """Samples of ours and of the floor, taken in turn."""

    ours: Spread
    floor: Spread

    @property
    def ratio(self) -> float:
        """Median against median."""
        return self.ours.median / self.floor.median

    @property
    def p99_ratio(self) -> float:
        """99th percentile against 99th percentile."""
        return self.ours.p99 / self.floor.p99


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: `value` may be at most `budget`, both in `unit`.

    `judged` is False where the sizes of the run, or an absolute duration, allow no verdict.
    """

    group: str
    what: str
    floor: str
    value: float
    budget: float
    unit: str = "x"
    pair: Pair | None = None
    judged: bool = True
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the budget is kept."""
        if not self.judged:
            return "-"
        return "ok" if self.value <= self.budget else "over"
