"""One line around a match."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.store.snippet import ELLIPSIS, MAX_CHARS, Sought, joins, snippet, sought

FAMILY = "👨‍👩‍👧‍👦"


def words(*forms: str) -> Sought:
    return Sought(forms)


def test_a_short_text_comes_whole_on_one_line() -> None:
    assert snippet("one  two\t\tthree ", words("two")).text == "one two three"


def test_lines_are_kept_apart_and_blank_ones_dropped() -> None:
    assert snippet("\nUse Postgres 17.\n \n\r\n16 lacks X\n", words("postgres")).text == (
        "Use Postgres 17. | 16 lacks X"
    )
    assert snippet("one\ntwo", words("two")).text == "one | two"


def test_separated_lines_stay_within_the_width_and_show_the_match() -> None:
    text = "a\n" * 300 + "the needle\n" + "b\n" * 300
    line = snippet(text, words("needle")).text
    assert len(line) <= MAX_CHARS
    assert "a | a | the needle | b | b" in line
    assert not line.startswith((f"{ELLIPSIS}|", f"{ELLIPSIS} "))
    assert not line.endswith((f"|{ELLIPSIS}", f" {ELLIPSIS}"))


def test_the_match_is_inside_and_the_cuts_are_visible() -> None:
    text = "before " * 100 + "the timeout is 15 s" + " behind" * 100
    line = snippet(text, words("timeout")).text
    assert "the timeout is 15 s" in line
    assert line.startswith(ELLIPSIS)
    assert line.endswith(ELLIPSIS)
    assert len(line) <= MAX_CHARS


def test_a_match_at_the_end_shows_what_stands_before_it() -> None:
    line = snippet("word " * 200 + "last match", words("match")).text
    assert line.endswith("word last match")
    assert len(line) > MAX_CHARS // 2


def test_the_window_with_most_words_wins() -> None:
    text = "alpha alone " + "x " * 200 + "alpha and beta together " + "y " * 200
    assert "alpha and beta together" in snippet(text, words("alpha", "beta")).text


def test_a_whole_phrase_outweighs_an_earlier_single_word() -> None:
    text = "feat one " + "x " * 200 + "a lucky feat here " + "y " * 200
    assert "lucky feat" in snippet(text, words("lucky feat", "feat")).text


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
    assert hidden.replace("e\u0301", "é") in snippet(text, words(form)).text


def test_without_a_match_it_is_the_beginning() -> None:
    line = snippet("the beginning " * 50, words("absent")).text
    assert line.startswith("the beginning")
    assert line.endswith(ELLIPSIS)


def test_a_cut_never_falls_inside_a_family_a_flag_or_an_accented_letter() -> None:
    for cluster in (FAMILY, "🇫🇷", "👍🏽", "x\u0323\u0302", "1\ufe0f\u20e3"):
        for width in range(30, 60):
            line = snippet(cluster * 60, words("absent"), width).text
            assert line.removesuffix(ELLIPSIS).replace(cluster, "") == "", (cluster, width)


def test_flags_join_in_pairs_only() -> None:
    flags = "🇫🇷🇩🇪"
    assert [joins(flags, place) for place in range(5)] == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("first", "shown", "number"),
    [
        ((("alpha beta",), ()), "c: alpha beta here", 301),
        (((), ("alpha beta",)), "c: alpha beta here", 301),
        (((), ("beta alphas",)), "d: beta, ALPHA there", 402),
        ((("absent",), ("alpha beta",)), "c: alpha beta here", 301),
        ((("alpha",), ()), "a: alpha, no more", 1),
        (((), ("1 5",)), "e: version 1.5 alpha", 503),
    ],
)
def test_a_row_of_words_goes_before_any_window_of_single_ones(
    first: tuple[tuple[str, ...], ...], shown: str, number: int
) -> None:
    rows = {0: "a: alpha, no more", 300: "c: alpha beta here", 401: "d: beta, ALPHA there"}
    rows[502] = "e: version 1.5 alpha"
    text = "\n".join(rows.get(n, "gamma 15") for n in range(600))
    found = snippet(text, sought(first, [], ["alpha", "gamma"]))
    assert (found.line, shown in found.text) == (number, True)


def test_of_equal_rows_the_one_among_the_other_words_is_shown() -> None:
    text = "timeout\n" * 3_000 + "gateway timeout of upstream\n" + "timeout\n" * 50
    found = snippet(text, sought([["timeout"]], [], ["timeout", "gateway", "upstream"]))
    assert found.line == 3_001
    assert "gateway timeout of upstream" in found.text


def test_a_literal_goes_before_words() -> None:
    text = "c and c\n" * 100 + "abc++ is none\nin c++ it is\n" + "c and c\n" * 100
    found = snippet(text, sought([], ["c++"], ["c"]))
    assert found.line == 102
    assert "in c++ it is" in found.text


@pytest.mark.parametrize("sample", ["a", "a ", "a_", "a" + "_" * 50, "a b ", "1 "])
def test_a_long_row_takes_time_in_proportion_to_the_text(sample: str) -> None:
    row = "a " * 60 + "b"
    start = time.process_time()
    snippet(sample * (64_000 // len(sample)), sought([[row], [row]], ["a-b"], [row, "a", "1"]))
    assert time.process_time() - start < 2.0


@given(st.text(max_size=600), st.integers(20, 200))
def test_it_is_one_line_within_its_width(text: str, width: int) -> None:
    line = snippet(text, words("a", "b c"), width).text
    assert len(line) <= width
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize("sample", ["a", "get ", "get" + " " * 99, "é", "get_user_", "\u0301", FAMILY])
def test_a_hostile_text_takes_time_in_proportion(sample: str) -> None:
    text = sample * (400_000 // len(sample))
    start = time.process_time()
    snippet(text, words("get user by id", "get", "a"))
    assert time.process_time() - start < 2.0


def test_a_snippet_tells_the_line_of_its_match() -> None:
    text = "first line\nsecond line\n\nthe timeout is on the fourth\n"
    assert snippet(text, words("timeout")).line == 4
    assert snippet(text, words("absent")).line == 1
