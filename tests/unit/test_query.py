"""Queries taken apart, and cursors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.store.errors import InvalidInputError
from pinfold.store.query import (
    MAX_LINES,
    MAX_WORDS,
    Cursor,
    Term,
    digest_of_query,
    has_word,
    parse,
    read_cursor,
    write_cursor,
)

DIGEST = digest_of_query("a query", ("pins",), None)


def words_of(text: str) -> list[str]:
    return [term.forms[0] for term in parse(text).lines[0].terms]


def test_stop_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert words_of("what is the timeout of the parser") == ["timeout", "parser"]
    assert words_of("to be or not to be") == ["to", "be", "or", "not"]


def test_quoted_parts_are_phrases_and_words() -> None:
    line = parse('find "Lucky Feat" and “second one” now').lines[0]
    assert line.phrases == ("lucky feat", "second one")
    assert words_of('find "Lucky Feat"') == ["find", "lucky", "feat"]


def test_a_lone_quote_or_an_empty_phrase_means_nothing() -> None:
    assert parse('"open ended').lines[0].phrases == ()
    assert parse('it "***" works').lines[0].phrases == ()
    assert words_of('"open ended') == ["open", "ended"]


def test_operators_are_words() -> None:
    assert words_of("NEAR(alpha) OR kind:note NOT beta*") == ["near", "alpha", "kind", "note", "beta"]


def test_an_identifier_is_asked_whole_and_in_pieces() -> None:
    line = parse("call getUserById").lines[0]
    assert line.terms == (Term(("call",)), Term(("getuserbyid", "get user by id")))
    assert line.hints == ("user", "id")


def test_a_word_as_written_is_a_unit_of_its_tokens() -> None:
    line = parse("is foo_1500 in src/getUserById.py, 成语接").lines[0]
    assert [unit.forms for unit in line.units] == [
        ("foo 1500",),
        ("src",),
        ("getuserbyid py", "get user by id py"),
        ("成语",),
        ("语接",),
    ]
    assert [unit.terms for unit in line.units] == [(0, 1), (2,), (3, 4), (5,), (6,)]


def test_an_unspaced_run_is_asked_in_pairs() -> None:
    line = parse("成语接龙").lines[0]
    assert [term.forms for term in line.terms] == [("成语",), ("语接",), ("接龙",)]
    assert line.whole == "成 语 接 龙"
    assert line.neighbours == ((0, 1, "成 语 接"), (1, 2, "语 接 龙"))


def test_neighbours_keep_the_words_between_them() -> None:
    assert parse("state of the art").lines[0].neighbours == ((0, 1, "state of the art"),)


def test_words_with_signs_are_literals() -> None:
    assert parse("use C++ with --no-verify, v1.2.3.").lines[0].literals == ("c++", "--no-verify", "v1.2.3")


def test_each_line_is_a_phrasing_up_to_a_limit() -> None:
    assert [line.whole for line in parse("one way\n\n***\nanother way\none way").lines] == [
        "one way",
        "another way",
    ]
    assert len(parse("\n".join(f"line{n}" for n in range(50))).lines) == MAX_LINES


def test_words_beyond_the_limit_are_left_out() -> None:
    line = parse(" ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(500))).lines[0]
    assert len(line.terms) == MAX_WORDS


def test_surrogates_and_nul_are_dropped() -> None:
    assert words_of("al\ud800pha\0beta") == ["alpha", "beta"]


@pytest.mark.parametrize("text", ["", "   ", "()*", "***", '"" ""', "\n\n", "\0", "\ud800", "-- :: //"])
def test_a_query_without_letter_or_digit_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse(text)
    assert str(refused.value) == (
        "The query has no letter and no digit. Search for at least one word, number or name."
    )


@pytest.mark.parametrize("text", ["a", "7", "用", "ก", "ש", "٣", "🎉", "½", "ª"])
def test_one_letter_digit_or_pictograph_in_any_script_is_enough(text: str) -> None:
    assert has_word(text)
    assert parse(text).lines[0].terms


@given(st.text(max_size=300))
def test_any_text_with_a_letter_or_digit_can_be_parsed(text: str) -> None:
    asked = text + "x"
    for line in parse(asked).lines:
        assert line.terms
        assert len(line.terms) <= MAX_WORDS
        assert all(left < len(line.terms) > right for left, right, _ in line.neighbours)


@given(st.integers(0, 2**40), st.frozensets(st.integers(1, 2**40), max_size=200))
def test_a_cursor_comes_back_as_it_was_written(newest: int, shown: frozenset[int]) -> None:
    cursor = Cursor(newest, shown)
    assert read_cursor(write_cursor(cursor, DIGEST), DIGEST) == cursor


def test_a_cursor_of_a_page_of_five_is_short() -> None:
    shown = frozenset({900_001, 900_100, 950_000, 999_000, 1_000_000})
    assert len(write_cursor(Cursor(1_000_000, shown), DIGEST)) <= 32


def test_a_cursor_of_another_query_is_refused() -> None:
    word = write_cursor(Cursor(9, frozenset({3})), DIGEST)
    with pytest.raises(InvalidInputError, match="belongs to another query"):
        read_cursor(word, digest_of_query("another query", ("pins",), None))


@pytest.mark.parametrize("text", ["", "x", "AAAA", "no cursor!", "é", "AAAAAAAAAAAA", "a" * 10_000])
def test_a_made_up_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not one that search_history gave"):
        read_cursor(text, DIGEST)


def test_a_cursor_with_a_changed_letter_is_refused() -> None:
    word = write_cursor(Cursor(70_000, frozenset({5, 900})), DIGEST)
    for place in range(len(word) - 1):
        changed = word[:place] + ("A" if word[place] != "A" else "B") + word[place + 1 :]
        with pytest.raises(InvalidInputError):
            read_cursor(changed, DIGEST)
