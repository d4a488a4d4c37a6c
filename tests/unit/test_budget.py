"""What is left of a window for history, and how much of it pinfold takes."""

from __future__ import annotations

import pytest

from pinfold.context.budget import HistoryBudget, window_of


def test_history_is_the_window_less_all_that_is_fixed() -> None:
    budget = HistoryBudget(window_of("claude-code"), tools=1_000, brief=700, pins=500)
    assert budget.window.tokens == 200_000
    assert budget.history == 200_000 - 20_000 - 12_300 - 13_000 - 1_000
    assert (budget.share(1_000), budget.share(700)) == (0.005, 0.0035)


def test_codex_keeps_a_tenth_of_its_window_and_reserves_no_output_inside_of_it() -> None:
    window = window_of("codex", "gpt-5.5")
    assert (window.tokens, window.margin, window.habit.output_reserve) == (272_000, 27_200, 0)
    assert window.tokens - window.margin == 244_800


@pytest.mark.parametrize(
    ("client", "model", "given", "tokens", "assumed"),
    [
        ("claude-code", None, None, 200_000, True),
        ("claude-code", "claude-opus-5-5", None, 1_000_000, False),
        ("claude-code", "claude-sonnet-4-5", None, 200_000, False),
        ("claude-code", "claude-sonnet-4-5[1m]", None, 1_000_000, False),
        ("claude-code", "claude-opus-4-8", None, 1_000_000, False),
        ("codex", None, None, 272_000, True),
        ("codex", "gpt-6.2-sol", None, 500_000, False),
        ("codex", "GPT-6.2-astra", None, 272_000, False),
        ("codex", "some-model", None, 272_000, True),
        ("zed", None, None, 200_000, True),
        (None, "some-model", 64_000, 64_000, False),
    ],
)
def test_a_window_that_nobody_named_is_said_to_be_assumed(
    client: str | None, model: str | None, given: int | None, tokens: int, assumed: bool
) -> None:
    window = window_of(client, model, given)
    assert (window.tokens, window.assumed) == (tokens, assumed)


def test_a_window_that_the_fixed_parts_fill_leaves_nothing() -> None:
    assert HistoryBudget(window_of(None, None, 8_000), tools=1_000, brief=700, pins=0).history == 0
