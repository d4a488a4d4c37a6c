"""What a benchmark says of its samples, and what a verdict stands on."""

from __future__ import annotations

import pytest

from benchmarks.row import Pair, Row, Spread
from benchmarks.timing import in_turn, timed


def test_a_spread_gives_samples_that_were_seen_and_the_middle_of_two() -> None:
    spread = Spread.of([0.4, 0.1, 0.3, 0.2])
    assert spread == Spread(count=4, minimum=0.1, median=0.25, p99=0.4, maximum=0.4)


def test_the_99th_percentile_leaves_out_one_in_a_hundred() -> None:
    assert Spread.of([float(number) for number in range(1, 101)]).p99 == 99.0
    assert Spread.of([float(number) for number in range(1, 1001)]).p99 == 990.0


@pytest.mark.parametrize(
    ("value", "judged", "verdict"),
    [(1.25, True, "ok"), (1.26, True, "over"), (99.0, False, "-")],
)
def test_a_budget_is_kept_up_to_and_with_its_own_value(value: float, verdict: str, *, judged: bool) -> None:
    assert Row("call", "a read", "nothing", value, 1.25, judged=judged).verdict == verdict


def test_ours_and_the_floor_are_sampled_in_turn_and_warm_samples_do_not_count() -> None:
    turns: list[str] = []
    samples = iter([9.0, 1.0, 2.0])

    def ours() -> float:
        turns.append("ours")
        return next(samples)

    def floor() -> float:
        turns.append("floor")
        return 0.5

    pair = in_turn(ours, floor, runs=2, warm=1)
    assert turns == ["ours", "floor"] * 3
    assert pair == Pair(Spread(2, 1.0, 1.5, 2.0, 2.0), Spread(2, 0.5, 0.5, 0.5, 0.5))
    assert (pair.ratio, pair.p99_ratio) == (3.0, 4.0)


def test_a_timed_act_is_done_once_for_each_sample() -> None:
    done: list[int] = []
    sample = timed(lambda: done.append(1))
    assert [sample() >= 0, sample() >= 0] == [True, True]
    assert done == [1, 1]
