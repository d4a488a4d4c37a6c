"""The published figures, to the digit. Source: design 4 (the laboratory)."""

from __future__ import annotations

import anyio
import pytest

from pinfold.context.lab.cost import Cached, Load, Prices, cached, costs
from pinfold.context.lab.draws import Draws
from pinfold.context.lab.folding import FoldSeen, Run, run
from pinfold.context.lab.script import WATCHED


def _run(*, pinned: bool) -> Run:
    async def play() -> Run:
        return await run(pinned=pinned)

    return anyio.run(play)


def test_the_first_draws_are_those_of_the_published_generator() -> None:
    draws = Draws(42)
    assert [draws.below(100) for _ in range(5)] == [66, 14, 12, 52, 16]


@pytest.mark.parametrize("seed", [0, -42, 2**31 - 1, -(2**31)])
def test_any_seed_draws_within_the_range(seed: int) -> None:
    draws = Draws(seed)
    drawn = [draws.below(7, 3) for _ in range(500)]
    assert set(drawn) == {3, 4, 5, 6}


def test_without_a_pin_three_folds_lose_the_decision() -> None:
    seen = _run(pinned=False)
    assert (len(seen.folds), seen.tokens, seen.kept) == (20, 872, ())
    assert [fold for fold in seen.folds if fold.lost] == [
        FoldSeen(1, 203, 138, ("rotate", "mobile")),
        FoldSeen(2, 339, 163, ("15 minute",)),
        FoldSeen(3, 371, 171, ("Redis",)),
    ]


def test_with_a_pin_it_is_kept_whole() -> None:
    seen = _run(pinned=True)
    assert (len(seen.folds), seen.tokens, seen.kept) == (20, 871, WATCHED)


@pytest.mark.parametrize(
    ("steps", "dollars"), [(100, 0.9675), (500, 6.3375), (2_000, 47.85), (5_000, 232.125)]
)
def test_digests_cost_what_was_published(steps: int, dollars: float) -> None:
    assert costs(steps, Prices(), Load()).digests == pytest.approx(dollars, abs=1e-9)


@pytest.mark.parametrize("steps", [1, 9, 10, 11, 137])
def test_each_sum_is_that_of_its_steps(steps: int) -> None:
    prices, load = Prices(), Load()
    found = costs(steps, prices, load)
    raw = sum((1_500 + 300 * step) * 3 + 300 * 15 for step in range(steps))
    digests = sum((1_500 + 50 * (step // 10)) * 3 + 300 * 15 for step in range(steps))
    assert (found.raw, found.digests) == pytest.approx((raw / 1e6, digests / 1e6))
    assert found.lookup_per_step == pytest.approx(costs(1, prices, load).lookup)


def test_a_cold_cache_writes_everything_at_each_step_and_a_warm_one_only_what_is_new() -> None:
    cold = cached(3, Prices(), Load(), Cached(step_s=301))
    warm = cached(3, Prices(), Load(), Cached(step_s=299, resumes_per_day=2))
    assert cold.raw_cached == pytest.approx((5_400 * 3.75 + 900 * 15) / 1e6)
    assert warm.raw_cached == pytest.approx((2_100 * 3.75 + 3_300 * 0.3 + 900 * 15) / 1e6)
    assert warm.rent_per_day == pytest.approx(2 * 2_100 * 3.75 / 1e6)
