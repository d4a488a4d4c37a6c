"""Words of texts in any script, of identifiers, and how alike two texts are."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.store.words import (
    SEPARATORS,
    bigrams,
    body,
    fold,
    folded_words,
    identifier_parts,
    is_run,
    parts,
    share_of,
    stem,
    tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café ÉCOLE straße", "cafe ecole strasse"),
        ("cafe\u0301", "cafe"),
        ("Ёлка", "елка"),
        ("ΛΌΓΟΣ", "λογοσ"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("ﬁle １２ ｶﾀｶﾅ", "file 12 カタカナ"),
        ("co\u00adoperate\u200b", "cooperate"),
        ("a\ud800b", "ab"),
    ],
)
def test_fold_takes_away_case_accents_points_and_width(text: str, expected: str) -> None:
    assert fold(text) == expected


def test_decomposed_hangul_and_kana_fold_to_their_composed_letters() -> None:
    assert fold("\u1100\u1161\u11a8") == "각"
    assert fold("か\u3099") == "が"


def test_vowel_signs_stay_within_a_word() -> None:
    assert tokens("हिन्दी भाषा, தமிழ்") == ["हिन्दी", "भाषा", "தமிழ்"]


def test_unspaced_scripts_stand_character_by_character_in_the_body() -> None:
    assert body("今日は OK です") == "今 日 は ok で す"
    assert body("หาแมว") == "ห า แ ม ว"
    assert body("끝말잇기 게임") == "끝 말 잇 기 게 임"


def test_a_symbol_stands_alone() -> None:
    assert tokens("done🎉🎉 ok") == ["done", "🎉", "🎉", "ok"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", "get user by id getuserbyid"),
        ("get_user_by_id", "get user by id getuserbyid"),
        ("GET_USER_BY_ID", "get user by id getuserbyid"),
        ("XMLHttpRequest", "xml http request xmlhttprequest"),
        ("utf8", "utf 8 utf8"),
        ("E0382", "e 0382 e0382"),
        ("9f86d081884c7d65", ""),
        ("0x7ffe1234", "7ffe1234"),
        ("plain Words SHOUTED", ""),
        ("令牌刷新", "令牌 牌刷 刷新"),
        ("src/auth/session.py", ""),
        ("aB" * 33, ""),
    ],
)
def test_parts_are_pieces_joined_forms_and_pairs(text: str, expected: str) -> None:
    assert parts(text) == expected


def test_parts_name_a_repeated_identifier_once() -> None:
    assert parts("maxItems maxItems maxItems") == "max items maxitems"


def test_stem_takes_common_endings_and_leaves_short_words() -> None:
    assert [stem(word) for word in ("tests", "testing", "tested", "queries", "query", "is", "用户")] == [
        "test",
        "test",
        "test",
        "queri",
        "queri",
        "is",
        "用户",
    ]


def test_content_words_leave_out_stop_words_unless_nothing_else_is_there() -> None:
    assert folded_words("The tests of the parser") == {"test", "parser"}
    assert folded_words("to be or not to be") == {"to", "be", "or", "not"}
    assert folded_words("用户身份") == {"用户", "户身", "身份"}


def likeness(a: str, b: str) -> float:
    return share_of(folded_words(a), folded_words(b))


def test_likeness_is_one_for_equal_words_zero_for_none_and_between_otherwise() -> None:
    assert likeness("Use SQLite for the store", "the store uses SQLITE") == 1.0
    assert likeness("Use SQLite", "Deploy on Friday") == 0.0
    assert likeness("Token TTL is 15 minutes", "Token TTL is 30 minutes") == 0.75
    assert likeness("", "") == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_likeness_is_symmetric_and_within_zero_and_one(a: str, b: str) -> None:
    assert 0.0 <= likeness(a, b) <= 1.0
    assert likeness(a, b) == likeness(b, a)


@given(st.text(max_size=200))
def test_every_letter_and_digit_is_in_some_token(text: str) -> None:
    folded = fold(text)
    left = "".join(tokens(text))
    assert [c for c in folded if c.isalnum() and c not in left] == []


@given(st.text(max_size=80))
def test_cutting_is_the_same_each_time_and_stable_under_folding(text: str) -> None:
    assert tokens(fold(text)) == tokens(text)
    assert all(len(token) > 0 for token in tokens(text))
    assert all(is_run(token) or " " not in token for token in tokens(text))


def test_a_separator_parts_words_and_is_none() -> None:
    assert {mark: tokens(f"a{mark}b") for mark in SEPARATORS} == {mark: ["a", "b"] for mark in SEPARATORS}


MIXED = st.text(
    st.sampled_from("aB7_ -\n\t\0.=" + SEPARATORS + "é\u0301\u0338\u200bßΣςİक्षสวั用か\u3099─🎉½\ud800\u2028")
)


@given(MIXED | st.text())
def test_the_body_cut_line_by_line_has_the_words_of_the_text_cut_as_a_whole(text: str) -> None:
    whole = " ".join(" ".join(token) if is_run(token) else token for token in tokens(text))
    assert tokens(body(text)) == tokens(whole)


@given(MIXED | st.text() | st.from_regex(r"(?a:([A-Z]?[a-z]{0,3}[A-Z0-9_]{0,2}[ .é]?){1,12})"))
def test_parts_come_from_each_run_of_ascii_word_characters_and_then_from_each_unspaced_run(text: str) -> None:
    words = dict.fromkeys(re.findall(r"[A-Za-z0-9_]+", text))
    runs = dict.fromkeys(token for token in tokens(text) if is_run(token))
    expected = [part for word in words for part in identifier_parts(word)]
    assert parts(text).split() == [*expected, *(pair for run in runs for pair in bigrams(run))]


@pytest.mark.parametrize(
    "sample",
    [
        "a",
        "A",
        "aB",
        "a_",
        "_",
        "9f",
        "0x",
        "用",
        "a\u0301",
        "हि",
        "é ",
        "\u200d",
        "🎉",
        "def load(self, path: str) -> None:  # one line of code\n",
        "naïve text with an accent now and then, mostly plain\n",
    ],
)
def test_ten_times_the_text_costs_no_more_than_some_twenty_times_the_time(sample: str) -> None:
    def cost(chars: int) -> float:
        text = sample * (chars // len(sample))
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            body(text)
            parts(text)
            best = min(best, time.process_time() - start)
        return best

    assert cost(300_000) < 25 * max(cost(30_000), 0.0005)
