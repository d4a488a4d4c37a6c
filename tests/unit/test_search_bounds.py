"""What a search may cost: which entries are looked at when words are common, and how much is read of long texts."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from pinfold.store.snippet import snippet, sought
from pinfold.store.sql.search import EntryRow, index, page, reach, scan, score, terms
from pinfold.store.sql.verbs import READ_LIMIT_S
from pinfold.store.sqlite import word_index
from tests.unit.test_search_sql import Log

first_lines_of = import_module("pinfold.store.sql.search.entries")  # whose name a function there has, too


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "store.db")
    yield made
    made.db.close()


@pytest.fixture
def low_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (index, reach, score, terms, word_index):
        monkeypatch.setattr(module, "PROBE", 50)
    monkeypatch.setattr(reach, "WORK", 100)


@pytest.mark.usefixtures("low_bounds")
@pytest.mark.parametrize("query", ["error seen", '"error seen"', "error"])
def test_common_words_are_looked_for_among_the_newest_entries_and_that_is_said(log: Log, query: str) -> None:
    for n in range(400):
        log.add(f"an error seen, number {n}")
    oldest = 400 - 100 * 401 // (400 * len(query.split()))
    pages = log.pages(query, limit=50)
    shown = [entry for page in pages for entry in page]
    assert sorted(shown) == [*range(oldest, 401)]
    assert log.search(query).bounded


@pytest.mark.usefixtures("low_bounds")
@pytest.mark.parametrize("query", ["error seen", '"error seen"', "error seen quokka", "seenError"])
def test_what_a_filter_leaves_out_is_not_looked_through_to_the_beginning(
    log: Log, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "LOOKED_AT", 100)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    log.add("a quokka")
    spent = []
    for size in (400, 4_000):
        while len(log.texts) < size:
            log.add(f"an error seen, number {len(log.texts)}")
        log.db.set_progress_handler(step, 100)
        found = log.search(query, since="2031-01-01T00:00:00.000000Z", path="src/nowhere.py")
        log.db.set_progress_handler(None, 0)
        spent.append(steps)
        steps = 0
        assert (found.hits, found.bounded) == ((), True)
    print(f"hundreds of SQLite's steps among 400 and 4,000 entries: {spent}")
    assert spent[1] < 2 * spent[0]


@pytest.mark.usefixtures("low_bounds")
def test_a_rare_word_beside_common_ones_is_found_however_old_its_entry_is(log: Log) -> None:
    rare = log.add("the error of a quokka was seen")
    for n in range(400):
        log.add(f"an error seen, number {n}")
    for query in ("quokka error seen", '"error of a quokka"', '"a quokka" error seen'):
        found = log.search(query)
        assert (found.hits[0].entry.id, found.bounded) == (rare, False)


@pytest.mark.usefixtures("low_bounds")
def test_words_of_some_entries_are_looked_for_further_back_than_words_of_all(log: Log) -> None:
    for n in range(400):
        log.add(f"an error seen, number {n}" if n % 4 else f"an error of the gasket, number {n}")
    assert min(log.ids("error seen", limit=50)) > 300
    oldest = min(entry for page in log.pages("error gasket", limit=50) for entry in page)
    assert 150 < oldest < 250


def test_pages_of_common_words_are_those_of_the_first_page_while_others_write(
    log: Log, low_bounds: None
) -> None:
    for n in range(400):
        log.add(f"an error seen, number {n}")
    shown: list[int] = []
    cursor = None
    while True:
        found = log.search("error seen", limit=7, cursor=cursor)
        shown += [hit.entry.id for hit in found.hits]
        cursor = found.next_cursor
        if cursor is None:
            break
        log.add(f"an error seen, number {len(log.texts)}")
    assert sorted(shown) == [*range(350, 401)]


def test_the_first_page_ends_early_when_texts_are_long_and_the_next_ones_show_the_rest(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "READ_CHARS", 10_000)
    monkeypatch.setattr(first_lines_of, "READ_FOR_HEADS_CHARS", 10_000)
    read: list[int] = []

    def text_of(row: EntryRow) -> str:
        read.append(row.id)
        return log.texts[row.id]

    monkeypatch.setattr(log, "text_of", text_of)
    all_of_them = {log.add(f"alarm {n} " + f"filler{n} " * 450) for n in range(20)}
    pages = log.pages("alarm", limit=20)
    assert [len(page) for page in pages] == [3] * 6 + [2]
    assert {entry for page in pages for entry in page} == all_of_them
    # For each page: what ranking reads, what it shows, and as much of what was shown before.
    assert len(read) <= 7 * (3 + 3 + 3)


def test_a_snippet_of_a_long_text_shows_the_match_wherever_it_is() -> None:
    chance = random.Random(5)
    filler = [f"wort{chance.randrange(900)} größe" for _ in range(60_000)]
    for place in (0, 31_000, 59_990):
        words = [*filler]
        words[place] = "der rote Feuermelder schlug Alarm"
        text = "\n".join(words)
        assert len(text) > 10 * 65_536
        wanted = sought([[], ["feuermelder schlug"]], [], ["feuermelder schlug", "feuermelder", "grosse"])
        found = snippet(text, wanted)
        assert "der rote Feuermelder schlug Alarm" in found.text
        assert found.line == place + 1


def test_common_words_in_texts_of_ten_megabytes_are_answered_in_time(log: Log) -> None:
    words = [f"wort{n}" for n in range(50)] + ["stone", "river"]
    chance = random.Random(7)
    for n in range(6):
        lines = "\n".join(" ".join(chance.choices(words, k=12)) for _ in range(3_000))
        entry = log.add(f"number {n}: {lines}")
        log.texts[entry] = f"number {n}: " + f"{lines}\n" * (10_000_000 // len(lines))
    start = time.process_time()
    pages = log.pages("stone river", limit=5)
    spent = time.process_time() - start
    print(f"{len(pages)} pages of 6 texts of {len(log.texts[1]):,} characters: {spent:.2f} s, seed 7")
    assert sorted(entry for page in pages for entry in page) == [*range(1, 7)]
    assert spent < READ_LIMIT_S


def test_a_phrase_across_the_border_of_two_parts_of_a_long_text_is_shown() -> None:
    border = 3 * 65_536
    for start in range(border - 20, border + 2, 3):
        text = ("x " * border)[:start] + " rote Melder " + "y " * border
        assert "rote Melder" in snippet(text, sought([[], ["rote melder"]], [], ["rote melder"])).text


def test_a_search_inside_of_words_tells_that_older_entries_were_left_out(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "LOOKED_AT", 20)
    log.add("new XMLHttpRequest()", session=2)
    for n in range(30):
        log.add(f"line number {n}")
    found = log.search("httprequest", session=2)
    assert (found.tier, found.hits, found.bounded) == ("none", (), True)


@pytest.mark.usefixtures("low_bounds")
def test_what_one_line_left_out_is_said_though_only_another_found_something(log: Log) -> None:
    kept = log.add("a quokka", paths=("src/a.py",))
    for n in range(400):
        log.add(f"an error seen, number {n}")
    found = log.search("quokka\nerror seen", path="src/a.py")
    assert ([hit.entry.id for hit in found.hits], found.bounded) == ([kept], True)


@pytest.mark.usefixtures("low_bounds")
@pytest.mark.parametrize("query", ["zephyr quokka beta", "old gold beta", "old zephyr beta"])
def test_a_word_that_stands_within_the_filter_is_found_though_rarer_ones_do_not(log: Log, query: str) -> None:
    log.add("a zephyr")
    log.add("a quokka")
    for n in range(400):
        log.add(f"beta of old gold, number {n}" if n < 200 else f"beta, number {n}")
    week = "2026-02-02T00:00:00.000000Z"
    fresh = [log.add(f"beta of this week, number {n}", at=week, paths=("src/a.py",)) for n in range(7)]
    for within in ({"since": week}, {"path": "a.py"}):
        found = log.search(query, limit=50, **within)
        assert sorted(hit.entry.id for hit in found.hits) == fresh
        assert found.bounded
