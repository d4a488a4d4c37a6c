"""What the measure of learning counts, and that learning holds on a small case what the measure says of large ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.misses import figures, made_case, measure


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_places_before_and_after_become_shares_and_counts() -> None:
    assert figures([0, 1, 2, 5], [1, 1, 4, 0]) == {
        "questions": 4,
        "hit@5 before": 75.0,
        "hit@5 after": 75.0,
        "MRR before": 42.5,
        "MRR after": 56.2,
        "gained": 1,
        "lost": 1,
        "lower": 1,
    }


@pytest.mark.anyio
async def test_missed_questions_are_answered_when_asked_again_and_others_lose_nothing(tmp_path: Path) -> None:
    found = await measure(made_case(entries=400, questions=80), tmp_path / "store", wrong=False)
    print(found)
    taught, others = found["taught"], found["others"]
    assert taught["questions"] >= 3
    assert (taught["hit@5 before"], taught["hit@5 after"]) == (0.0, 100.0)
    assert others["lost"] == 0


@pytest.mark.anyio
async def test_wrong_answers_cost_the_last_place_of_a_page_at_most(tmp_path: Path) -> None:
    case = made_case(entries=400, questions=80)
    found = await measure(case, tmp_path / "store", wrong=True)
    print(found)
    assert found["taught"]["lost"] <= found["taught"]["questions"] / 10
    assert found["others"]["lost"] == 0
