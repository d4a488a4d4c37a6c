"""What the model of a real client is shown although nobody asks for it: pinfold is installed, and that is all."""

from __future__ import annotations

import re

import pytest

from tests.clients.dialogue import Result, sent
from tests.clients.life import (
    ANEW,
    ANSWER,
    CHOICE,
    DECIDED,
    EXPLORED,
    FOLDS,
    GO_ON,
    LINES,
    ONLY_CLEARED,
    ONLY_RESUMED,
    ORDERED,
    PARTS,
    SUMMARY,
    Life,
)
from tests.clients.run import Conversation
from tests.clients.story import PIN, WHY

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]


def _after_folds(conversation: Conversation) -> list[str]:
    return [sent(conversation.requests[index]) for index in conversation.folds]


def _first_with(conversation: Conversation, prompt: str) -> str:
    """Return the first request that carries what the user said."""
    return next(text for text in map(sent, conversation.requests) if prompt in text)


def _results(life: Life, tool: str) -> list[Result]:
    return [result for result in life.first.results if result.tool.endswith(tool)]


def test_pin_is_shown_byte_for_byte_after_each_of_ten_compactions(life: Life) -> None:
    after = _after_folds(life.first)
    assert len(after) == FOLDS
    assert [SUMMARY in text and PIN in text and WHY in text for text in after] == [True] * FOLDS
    assert [text.count(PIN) for text in after] == [1] * FOLDS


def test_decision_that_nobody_pinned_and_the_summary_lost_is_offered_as_a_pointer(life: Life) -> None:
    first, second = _after_folds(life.first)[:2]
    (offered,) = re.findall(r"^(H\d+)  (.*zstd level 7.*)$", first, re.MULTILINE)
    assert offered[1] == CHOICE
    assert CHOICE not in second
    fetched = _results(life, "fetch_pointer")[len(PARTS)]
    assert fetched.shows(CHOICE)


def test_oversize_output_reaches_the_model_as_preview_and_pointer(life: Life) -> None:
    (shown,) = [result for result in life.first.results if result.shows("block 00001 ok")][:1]
    assert shown.text is not None
    assert re.search(r"\bA1\b", shown.text)
    assert len(shown.text) < 1_500
    assert f"block {LINES:05d} ok" in shown.text
    assert f"block {LINES // 2:05d} ok" not in shown.text


def test_oversize_output_is_fetched_back_byte_for_byte(life: Life) -> None:
    parts = _results(life, "fetch_pointer")[: len(PARTS)]
    assert [part.shows(text) for part, text in zip(parts, PARTS, strict=True)] == [True] * len(PARTS)


def test_answer_of_a_sub_agent_is_found_by_search(life: Life) -> None:
    found, _ = _results(life, "search_history")
    assert found.structured is not None
    (hit,) = [hit for hit in found.structured["hits"] if hit.get("ref", "").startswith("agent:")]
    assert ANSWER in hit["text"]


def test_exploration_of_a_sub_agent_is_in_no_brief(life: Life) -> None:
    """Its transcript is an artifact, which a search may lead to."""
    briefs = [*_after_folds(life.first), *_after_folds(life.resumed), *_after_folds(life.cleared)]
    assert [text for text in briefs if EXPLORED in text] == []
    (brief,) = _results(life, "fetch_pointer")[-1:]
    assert brief.shows(PIN)
    assert not brief.shows(EXPLORED)
    _, found = _results(life, "search_history")
    assert found.structured is not None
    assert {hit["kind"] for hit in found.structured["hits"] if EXPLORED in hit["text"]} == {"artifacts"}


def test_resumed_conversation_is_given_the_brief_again(life: Life) -> None:
    """Its own history still holds the brief of the last compaction."""
    assert sent(life.first.requests[-1]).count(PIN) < _first_with(life.resumed, GO_ON).count(PIN)


def test_conversation_after_a_clear_begins_with_the_brief(life: Life) -> None:
    begun = _first_with(life.cleared, ANEW)
    assert GO_ON not in begun
    assert [begun.count(text) for text in (PIN, WHY)] == [1, 1]


def test_what_is_pinned_for_one_session_stays_in_the_conversation_it_was_pinned_in(life: Life) -> None:
    """Claude Code's server is told another id when a conversation is resumed, and none after a clear."""
    resumed, cleared = _after_folds(life.resumed), _after_folds(life.cleared)
    assert [(ONLY_RESUMED in text, ONLY_CLEARED in text) for text in resumed] == [(True, False)]
    assert [(ONLY_RESUMED in text, ONLY_CLEARED in text) for text in cleared] == [(False, True)]


def test_decision_in_the_users_prompt_is_pinned(life: Life) -> None:
    (after,) = _after_folds(life.resumed)
    assert re.search(rf"^P\d+  {re.escape(DECIDED)}", after, re.MULTILINE)


def test_what_an_agent_orders_a_sub_agent_to_do_is_no_decision_of_the_user(life: Life) -> None:
    briefs = [*_after_folds(life.first), *_after_folds(life.resumed), *_after_folds(life.cleared)]
    assert [text for text in briefs if re.search(rf"^P\d+  .*{ORDERED}", text, re.MULTILINE)] == []
