"""One line around a match."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.store.snippet import ELLIPSIS, MAX_CHARS, joins, snippet

FAMILY = "👨‍👩‍👧‍👦"


def test_a_short_text_comes_whole_on_one_line() -> None:
    assert snippet("one\n two\t\tthree ", ["two"]).text == "one two three"


def test_the_match_is_inside_and_the_cuts_are_visible() -> None:
    text = "before " * 100 + "the timeout is 15 s" + " behind" * 100
    line = snippet(text, ["timeout"]).text
    assert "the timeout is 15 s" in line
    assert line.startswith(ELLIPSIS)
    assert line.endswith(ELLIPSIS)
    assert len(line) <= MAX_CHARS


def test_a_match_at_the_end_shows_what_stands_before_it() -> None:
    line = snippet("word " * 200 + "last match", ["match"]).text
    assert line.endswith("word last match")
    assert len(line) > MAX_CHARS // 2


def test_the_window_with_most_words_wins() -> None:
    text = "alpha alone " + "x " * 200 + "alpha and beta together " + "y " * 200
    assert "alpha and beta together" in snippet(text, ["alpha", "beta"]).text


def test_a_whole_phrase_outweighs_an_earlier_single_word() -> None:
    text = "feat one " + "x " * 200 + "a lucky feat here " + "y " * 200
    assert "lucky feat" in snippet(text, ["lucky feat", "feat"]).text


@pytest.mark.parametrize(
    ("hidden", "form"),
    [
        ("getUserById", "get user by id"),
        ("get_user_by_id", "get user by id"),
        ("failed", "failing"),
        ("CAFÉ", "cafe"),
        ("cafe\u0301", "cafe"),
        ("ЁЛКА", "елка"),
        ("しりとり", "し り と り"),
        ("XMLHttpRequest", "httprequest"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_a_match_is_found_whatever_its_spelling(hidden: str, form: str) -> None:
    text = "~ " * 300 + hidden + " ~" * 300
    assert hidden.replace("e\u0301", "é") in snippet(text, [form]).text


def test_without_a_match_it_is_the_beginning() -> None:
    line = snippet("the beginning " * 50, ["absent"]).text
    assert line.startswith("the beginning")
    assert line.endswith(ELLIPSIS)


def test_a_cut_never_falls_inside_a_family_a_flag_or_an_accented_letter() -> None:
    for cluster in (FAMILY, "🇫🇷", "👍🏽", "x\u0323\u0302", "1\ufe0f\u20e3"):
        for width in range(30, 60):
            line = snippet(cluster * 60, ["absent"], width).text
            assert line.removesuffix(ELLIPSIS).replace(cluster, "") == "", (cluster, width)


def test_flags_join_in_pairs_only() -> None:
    flags = "🇫🇷🇩🇪"
    assert [joins(flags, place) for place in range(5)] == [False, True, False, True, False]


@given(st.text(max_size=600), st.integers(20, 200))
def test_it_is_one_line_within_its_width(text: str, width: int) -> None:
    line = snippet(text, ["a", "b c"], width).text
    assert len(line) <= width
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize("sample", ["a", "get ", "get" + " " * 99, "é", "get_user_", "\u0301", FAMILY])
def test_a_hostile_text_takes_time_in_proportion(sample: str) -> None:
    text = sample * (400_000 // len(sample))
    start = time.process_time()
    snippet(text, ["get user by id", "get", "a"])
    assert time.process_time() - start < 2.0


def test_a_snippet_tells_the_line_of_its_match() -> None:
    text = "first line\nsecond line\n\nthe timeout is on the fourth\n"
    assert snippet(text, ["timeout"]).line == 4
    assert snippet(text, ["absent"]).line == 1
