"""What holds a line in a row, and what all its words, is as the texts say, however little the index is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pinfold.store.query import parse
from pinfold.store.sql.search import index, reach, score, terms
from pinfold.store.sql.search.entries import newest_id
from pinfold.store.sql.search.index import Scope, quoted
from pinfold.store.sql.search.rank import TIERS, rank_matches
from pinfold.store.sqlite import word_index
from tests.unit.test_search_sql import Log

_WORDS = ("copper", "nickel", "cobalt", "indium", "bismuth", "thorium")
_OFTEN = (60, 25, 10, 5, 3, 1)


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log(":memory:")
    yield made
    made.db.close()


def _talk(log: Log, entries: int) -> dict[int, list[str]]:
    chance = random.Random(20_261_130)
    texts = [chance.choices(_WORDS, _OFTEN, k=6) for _ in range(entries)]
    return {log.add(" ".join(words)): words for words in texts}


def _row_of(line: list[str], words: list[str]) -> bool:
    return any(words[start : start + len(line)] == line for start in range(len(words)))


@pytest.mark.parametrize("probe", [5_000, 40])
def test_tiers_are_those_that_the_texts_tell(log: Log, monkeypatch: pytest.MonkeyPatch, probe: int) -> None:
    for module in (index, reach, score, terms, word_index):
        monkeypatch.setattr(module, "PROBE", probe)
    texts = _talk(log, 150)
    asked = log.db.index(Scope(newest_id(log.db)))
    chance = random.Random(7)
    for _ in range(60):
        line = chance.sample(_WORDS, chance.choice((1, 2, 2, 3, 3, 4)))
        tiers = rank_matches(asked, parse(" ".join(line)), lambda ids: {}).tiers
        for entry, words in texts.items():
            expected = 0 if _row_of(line, words) else 1 if set(line) <= set(words) else None
            told = tiers.get(entry)
            assert told == expected or (expected is None and told == TIERS.index("most words")), (line, words)


def test_the_newest_matches_are_found_in_near_windows_where_they_lie_densely(log: Log) -> None:
    for number in range(3_000):
        log.add(f"copper{' nickel' * (number % 30 == 0)}{' cobalt' * (number == 4)}")
    asked = log.db.index(Scope(newest_id(log.db)))
    spent = {}
    for word in _WORDS[:3]:
        steps = 0

        def step() -> None:
            nonlocal steps
            steps += 1

        log.db.set_progress_handler(step, 1)
        found = asked.newest(quoted(word), 20)
        log.db.set_progress_handler(None, 0)
        assert found == asked.every(quoted(word))[:20]
        spent[word] = steps
    assert len(asked.every(quoted("copper"))) == 3_000
    assert spent["copper"] < 100 * 20
