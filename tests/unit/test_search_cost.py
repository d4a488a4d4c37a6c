"""What a search costs beside the ranking: what it asks of earlier misses, and what it holds of the texts it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfold.store.aliases import phrasings
from pinfold.store.words import folded_words
from tests.unit.test_search_sql import Log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "store.db")
    yield made
    made.db.close()


def test_a_query_of_megabytes_asks_for_no_more_misses_than_a_page_of_text(log: Log) -> None:
    log.add("nothing of it")
    asked: list[str] = []
    log.db.set_trace_callback(lambda sql: asked.append(sql) if "FROM alias" in sql else None)
    assert log.search(" ".join(f"w{n}" for n in range(200_000))).hits == ()
    assert 0 < len(asked) <= 512


def test_of_many_lines_only_as_many_are_folded_as_are_phrasings() -> None:
    class Lines(str):
        read = 0

        def splitlines(self, keepends: bool = False) -> list[str]:
            return [Line(f"line{n} asked") for n in range(1_000)]

    class Line(str):
        def isascii(self) -> bool:
            Lines.read += 1
            return super().isascii()

    assert len(phrasings(Lines())) == 8
    assert 0 < Lines.read < 100


def test_the_words_of_a_long_text_are_not_kept_when_those_of_a_pin_are() -> None:
    pin = "word " * 600
    long = " ".join(f"word{n}" for n in range(2_000))
    assert folded_words(pin) is folded_words(pin)
    assert folded_words(long) is not folded_words(long)
