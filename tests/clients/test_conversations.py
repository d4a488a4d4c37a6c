"""What the model of each real client reads when it uses the five tools."""

from __future__ import annotations

import json

import pytest

from tests.clients.story import LOG, NEXT_STEP, PIN, WHY, Visit

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]


def test_every_call_but_the_wrong_one_is_carried_out_without_approval(visit: Visit) -> None:
    """Codex refuses tools without annotations where nobody can approve; a refused call answers no pointer."""
    failed = {step for step, result in visit.results.items() if result.failed}
    assert failed <= {"fetch nothing"}
    answers = {"pin": "P1", "spill": "A1", "search": "P1", "fetch pin": "P1", "checkpoint": "C1"}
    assert {step: visit.results[step].shows(pointer) for step, pointer in answers.items()} == dict.fromkeys(
        answers, True
    )


def test_each_client_hands_over_the_channels_we_count_on(visit: Visit) -> None:
    answers = [result for step, result in visit.results.items() if step != "fetch nothing"]
    assert {result.text is not None for result in answers} == {visit.kind.reads_text}
    assert {result.structured is not None for result in answers} == {visit.kind.reads_structured}


def test_pin_comes_back_byte_for_byte(visit: Visit) -> None:
    assert visit.results["fetch pin"].shows(PIN)
    assert visit.results["fetch pin"].shows(WHY)


def test_line_range_of_a_spilled_file_shows_these_lines_and_no_others(visit: Visit) -> None:
    shown = [number for number, line in enumerate(LOG, 1) if visit.results["fetch lines"].shows(line)]
    assert shown == [1000, 1001, 1002, 1003]


def test_spilled_file_does_not_pass_through_the_model(visit: Visit) -> None:
    said = json.dumps(visit.first.requests)
    assert LOG[499] not in said
    assert LOG[999] in said


def test_wrong_pointer_reaches_the_model_as_one_line(visit: Visit) -> None:
    """Errors are text only: Codex would show structured content instead of the text."""
    error = visit.results["fetch nothing"]
    assert error.structured is None
    assert error.text is not None
    assert "P999" in error.text
    assert "\n" not in error.text.strip()


def test_brief_shows_the_pin_byte_for_byte(visit: Visit) -> None:
    assert visit.results["fetch brief"].shows(PIN)


def test_new_conversation_finds_pin_and_next_step_in_the_brief(visit: Visit) -> None:
    (brief,) = visit.second.results
    assert brief.shows(PIN)
    assert brief.shows(WHY)
    assert brief.shows(NEXT_STEP)
    sent = [json.dumps(request) for request in visit.second.requests]
    assert [WHY in text for text in sent] == [False, True]
