"""Which specifics of a pin brief and summary still show."""

from __future__ import annotations

from pinfold.context.recall import absent, recall
from pinfold.context.specifics import specifics
from pinfold.store.results import Pin
from pinfold.store.values import PinKind

TEXT = "Refresh tokens live in `redis-main` for 15 minutes, see src/auth/tokens.py"


def _pin(text: str) -> Pin:
    return Pin(1, 2, "2026-03-14", 1, "agent", PinKind.DECISION, text, "", False, (), specifics(text), 9)


def test_what_only_the_summary_dropped_is_missing_there_alone() -> None:
    found = recall(_pin(TEXT), TEXT, "Token storage was reviewed; see tokens.py.")
    assert found.pin.specifics == ("redis-main", "15 minutes", "src/auth/tokens.py")
    assert found.not_in_brief == ()
    assert found.not_in_summary == ("redis-main", "15 minutes")


def test_without_a_summary_nothing_is_said_of_it() -> None:
    found = recall(_pin(TEXT), "pins were left out", None)
    assert found.not_in_brief == found.pin.specifics
    assert found.not_in_summary is None


def test_hidden_characters_count_as_the_reader_sees_them() -> None:
    assert absent(("a\x1bb_c",), "it is a\\x1bb_c there") == ()
    assert absent(("a\x1bb_c",), "it is a\x1bb_c there") == ()
