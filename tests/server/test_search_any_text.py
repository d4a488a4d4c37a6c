"""Whatever is asked gets an answer: generated queries against a real server. Source: P32."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.store.query import has_word, parse
from pinfold.store.sql.search.rank import TIERS
from tests.server.peer import Peer, call, running

KEPT = (
    "The billing worker crashed with ECONNRESET in src/billing/retry.py:42, says Ольга; 用户身份 was lost",
    "getUserById(7) takes 0x7ffe1234 and C++ — café, วันนี้, हिन्दी, مَرْحَبًا, 🎉",
)
SIGNS = st.sampled_from(
    [*"\"“”*^()-:.,+%_/\\'\n\r\t\v\u2028\u00a0\u200d\ufeff", "AND", "OR", "NOT", "NEAR(", "body:", "--", "P1"]
)
ANYTHING = st.lists(
    SIGNS | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
)
WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    folder: Path = tmp_path_factory.mktemp("project")
    command = [sys.executable, "-m", "pinfold", "serve", "--project", str(folder)]
    with running(command, PINFOLD_HOME=str(tmp_path_factory.mktemp("home"))) as peer:
        for number, text in enumerate(KEPT):
            peer.ask(call(number, "pin_decision", text=text, why=f"reason {number}"))
        yield peer


@settings(deadline=None, max_examples=200)
@given(before=ANYTHING, word=WORDS, behind=ANYTHING)
def test_any_text_with_a_letter_or_digit_in_any_script_is_answered(
    peer: Peer, before: list[str], word: str, behind: list[str]
) -> None:
    result = peer.ask(call(7, "search_history", query="".join([*before, word, *behind])))["result"]
    assert not result.get("isError"), result
    assert result["structuredContent"]["tier"] in TIERS


def test_each_letter_and_digit_of_unicode_is_something_to_look_for() -> None:
    """All but Han and Hangul, of which there are many and each is like the other."""
    codes = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xE000, 0x20000)]
    asked = [chr(code) for code in codes if unicodedata.category(chr(code))[0] in "LN"]
    assert len(asked) > 20_000
    assert all(has_word(one) or parse(one).lines[0].terms for one in asked)
