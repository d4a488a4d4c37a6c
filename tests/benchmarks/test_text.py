"""Made text: the same for the same seed, and as common or rare as the rows of search rely on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from benchmarks.text import (
    COMMON_WORDS,
    ENTRIES_PER_RARE_WORD,
    Prose,
    log_blocks,
    one_line_blocks,
    rare_words,
)


def test_the_same_seed_gives_the_same_text_and_another_one_gives_another() -> None:
    assert Prose(7).entry(3, 100) == Prose(7).entry(3, 100) != Prose(8).entry(3, 100)


@pytest.mark.parametrize("entries", [200, 5_000])
def test_a_rare_word_stands_in_as_few_entries_however_long_the_history_is(entries: int) -> None:
    found = Counter(word for number in range(entries) for word in set(rare_words(number, entries)))
    assert max(found.values()) <= ENTRIES_PER_RARE_WORD
    assert all(word.startswith("qu") for word in found)
    assert not any(word.startswith("qu") for word in Prose(1).vocabulary)


def test_rare_words_of_an_entry_are_in_its_text() -> None:
    assert set(rare_words(41, 1_000)) <= set(Prose(1).entry(41, 1_000).split())


def test_the_most_common_words_are_in_most_entries_and_are_what_is_asked_for() -> None:
    prose = Prose(2)
    common = set(prose.vocabulary[:COMMON_WORDS])
    entries = [set(prose.entry(number, 300).split()) for number in range(300)]
    assert sum(prose.vocabulary[0] in entry for entry in entries) > 200
    assert all(set(prose.common_query().split()) < common for _ in range(20))


@pytest.mark.parametrize("blocks", [log_blocks, one_line_blocks])
def test_made_files_have_exactly_the_size_asked_for(blocks: Callable[[int, int], Iterator[bytes]]) -> None:
    assert sum(len(block) for block in blocks(1_234_567, 5)) == 1_234_567


def test_a_log_has_lines_and_some_errors_and_a_long_line_has_no_end() -> None:
    log = b"".join(log_blocks(1_000_000, 5))
    assert log.count(b"\n") > 5_000
    assert 0 < log.count(b" ERROR ") < log.count(b"\n") / 100
    assert b"\n" not in b"".join(one_line_blocks(1_000_000, 5))
