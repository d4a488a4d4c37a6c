"""What hides in stored text becomes visible, what a script or emoji needs stays, cuts respect graphemes."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.visible import boundary, clip, clip_front, shorten, size_text, visible

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\0b\x07\x7f\x9b", "a\\x00b\\x07\\x7f\\x9b"),
        ("over\rwritten", "over\\rwritten"),
        ("\u202egnp.exe\u202c", "\\u202egnp.exe\\u202c"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("zero\u200bwidth\ufeff\u2060", "zero\\u200bwidth\\ufeff\\u2060"),
        ("soft\xadhyphen", "soft\\xadhyphen"),
        ("line\u2028end\u2029", "line\\u2028end\\u2029"),
        ("half \ud83d", "half \\ud83d"),
        ("latin\u200djoined a\u200cb", "latin\\u200djoined a\\u200cb"),
        ("سلام\u200c! سلام\u200d", "سلام\\u200c! سلام\\u200d"),
        ("\u200d👩", "\\u200d👩"),
        ("👩\u200d\u200d👩", "👩\\u200d\\u200d👩"),
        ("tags\U000e0041\U000e0042", "tags\\U000e0041\\U000e0042"),
        ("x\ufe0f\ufe01\ufe02", "x\ufe0f\\ufe01\\ufe02"),
        ("filler\u3164\u115f", "filler\\u3164\\u115f"),
    ],
)
def test_hidden_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\nand lines\r\n",
        f"{FAMILY} 🏳️\u200d🌈 👩🏽\u200d💻 ❤️ {SCOTLAND} 🇩🇪",
        "می\u200cخواهم نامه\u200cها",
        "क्\u200dष क्\u200cष",
        "ශ්\u200dරී ලංකා",
        "café naïve é ＡＢＣ 漢字 한국어 ไทย",
        "\\x1b is spelled already",
        "葛\U000e0100城",
        "\ue0b0 \ue725 private use",
        "",
    ],
)
def test_text_that_needs_its_characters_stays_byte_for_byte(text: str) -> None:
    assert visible(text) == text


@given(st.text())
@settings(max_examples=50)
def test_visible_text_hides_nothing_and_stays_so(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not [each for each in shown if unicodedata.category(each) == "Cc" and each not in "\r\n\t"]
    shown.encode()


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Mn", "Cn", "Lo")))
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


CLUSTERS = [
    FAMILY,
    SCOTLAND,
    "🇩🇪",
    "👍🏽",
    "❤\ufe0f",
    "e\u0301\u0323",
    "\r\n",
    "क्षि",
    "ก็",
    "กำ",
    "\u1112\u1161\u11ab",
    "한",
    "g̈",
    "\u0600٣",
    "x",
    "漢",
]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=20), st.integers(0, 80))
def test_no_cut_splits_a_cluster(clusters: list[str], max_chars: int) -> None:
    text = "|".join(clusters)
    edges = {0}
    for each in clusters:
        edges |= {max(edges) + len(each), max(edges) + len(each) + 1}
    assert boundary(text, max_chars) in edges
    head, tail = clip(text, max_chars), clip_front(text, max_chars)
    assert (len(head) <= max_chars, len(tail) <= max_chars) == (True, True)
    assert (text.startswith(head), text.endswith(tail)) == (True, True)
    assert len(text) - len(tail) in edges


def test_a_run_of_flags_is_cut_between_flags() -> None:
    flags = "🇩🇪🇫🇷🇮🇹🇪🇸"
    assert [len(clip(flags, limit)) for limit in range(9)] == [0, 0, 2, 2, 4, 4, 6, 6, 8]


def test_an_endless_cluster_is_cut_in_bounded_time() -> None:
    began = time.thread_time()
    for hostile in ("a" + "\u0301" * 1_000_000, "\U0001f1e6" * 1_000_000, "👩\u200d" * 500_000):
        assert 0 < len(clip(hostile, 500_000)) <= 500_000
        assert 0 < len(clip_front(hostile, 1_000)) <= 1_000
    assert time.thread_time() - began < 1


def test_a_short_text_is_not_shortened() -> None:
    assert shorten("one\n  two", 7) == "one two"
    assert shorten("one two three", 8) == "one two…"
    assert shorten(FAMILY * 3, 10) == FAMILY + "…"


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 KB"),
        (86_123, "86 KB"),
        (999_900, "1.0 MB"),
        (1_449_000, "1.4 MB"),
        (268_435_456, "268 MB"),
        (12_345_678_900, "12,346 MB"),
    ],
)
def test_sizes_read_well(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text
