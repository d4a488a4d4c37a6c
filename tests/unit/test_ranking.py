"""What lifts one entry above another when none holds all the words: each time the newer one has as many of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pinfold.store.sql.search import index, reach, score, terms
from pinfold.store.sql.search.entries import first_lines
from pinfold.store.sql.search.index import Scope, quoted
from pinfold.store.sql.search.surroundings import Surroundings
from pinfold.store.sql.search.terms import Holders
from pinfold.store.sqlite import word_index
from tests.unit.test_search_sql import Log


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log(":memory:")
    for number in range(20):
        log.add(f"filler {number} of the usual kind", session=9)
    yield log
    log.db.close()


def found(log: Log, query: str) -> list[int]:
    return [hit.entry.id for hit in log.search(query).hits]


def test_words_in_the_first_line_count_more_than_further_down(log: Log) -> None:
    headed = log.add("retry budget\nafter lunch somebody talked at length", session=1)
    buried = log.add("after lunch somebody talked at length\nretry budget", session=2)
    assert found(log, "budget retry quota") == [headed, buried]


def test_words_side_by_side_as_they_were_asked_count_more_than_apart(log: Log) -> None:
    beside = log.add("after lunch the retry budget came up again", session=1)
    apart = log.add("after lunch the budget for retry came up", session=2)
    assert found(log, "retry budget quota") == [beside, apart]


def test_an_entry_gains_by_missing_words_said_just_before_it_in_its_conversation(log: Log) -> None:
    asked = log.add("what is the quota", session=1)
    answered = log.add("retry set to seven", session=1)
    for number in range(5):
        log.add(f"something else, the {number}th", session=2)
    elsewhere = log.add("retry set to eight", session=2)
    order = found(log, "retry quota")
    assert set(order) == {asked, answered, elsewhere}
    assert order.index(answered) < order.index(elsewhere)


def test_an_entry_gains_by_what_else_its_conversation_says_however_far_away(log: Log) -> None:
    log.add("what is the quota", session=1)
    for number in range(30):
        log.add(f"something else, the {number}th", session=1)
    here = log.add("retry set to seven", session=1)
    for number in range(30):
        log.add(f"something else again, the {number}th", session=2)
    elsewhere = log.add("retry set to eight", session=2)
    order = found(log, "retry quota")
    assert order.index(here) < order.index(elsewhere)


def test_a_conversation_does_not_gain_by_saying_a_word_over_and_over() -> None:
    spoken = Surroundings(dict.fromkeys(range(40), 1) | {40: 2, 41: 2, 42: 2, 43: 3}, frozenset())
    holders = Holders({0: 1.0})
    holders.add(0, range(43))
    worth = spoken.of_conversations(holders, range(44))
    assert worth[0] == worth[40] > worth[43] == 0


def test_a_pin_gains_nothing_by_its_number_between_messages(log: Log) -> None:
    strong = log.add("the retry budget", session=1)
    pin = log.add("retry set to seven", session=1, kind="pins", pointer="P1")
    far = log.add("retry set to eight", session=1)
    assert found(log, "retry budget") == [strong, far, pin]


def test_a_name_in_most_entries_still_tells_one_entry_from_another(log: Log) -> None:
    for number in range(60):
        log.add(f"melanie says {number}", session=1)
    asked = log.add("note\nmelanie painted it there", session=1)
    for number in range(5):
        log.add(f"something else, the {number}th", session=1)
    other = log.add("note\npainted it", session=1)
    assert found(log, "melanie painted sunrise")[:2] == [asked, other]


def test_what_was_said_in_another_conversation_lifts_nothing(log: Log) -> None:
    log.add("what is the quota", session=1)
    beside = log.add("retry set to seven", session=2)
    for number in range(5):
        log.add(f"something else, the {number}th", session=2)
    newest = log.add("retry set to eight", session=2)
    order = found(log, "retry quota")
    assert order.index(newest) < order.index(beside)


def test_a_piece_of_an_artifact_has_no_first_line_of_its_own(log: Log) -> None:
    message = log.add("\n  said first\nsaid next")
    piece = log.add("out of the middle", chunk=1)
    lines = first_lines(log.db, lambda row: log.texts[row.id], [message, piece])
    assert lines == {message: "said first"}


def test_asking_for_many_ids_at_once_gives_the_same_as_asking_for_each(log: Log) -> None:
    chance = random.Random(20_260_314)
    for _ in range(200):
        log.add(" ".join(chance.choices(["alpha", "beta", "gamma", "delta"], k=2)))
    asked = log.db.index(Scope(newest=220))
    ids = sorted(chance.sample(range(1, 221), 60))
    within = asked.within(quoted("beta"), ids)
    assert sorted(within) == sorted(asked.among(quoted("beta"), ids))
    assert 0 < len(within) < 60


def test_of_common_words_too_the_best_entries_are_those_whose_neighbours_count(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (index, reach, score, terms, word_index):
        monkeypatch.setattr(module, "PROBE", 50)
    monkeypatch.setattr(score, "_NARROWED", 5)
    filler = "after lunch somebody talked at length of other things"
    for number in range(200):
        log.add(f"{filler}, {'a timeout' if number % 3 else 'an error'}, the {number}th", session=number)
    both = log.add("timeout after an error", session=1)
    beside = log.add("an error at one", session=1)
    for number in range(5):
        log.add(f"something else, the {number}th", session=2)
    alone = log.add("an error at two", session=1)
    assert found(log, "error timeout")[:3] == [both, beside, alone]
