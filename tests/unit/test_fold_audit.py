"""The audit of a fold: what was present of each pin, what its summary lost, and that it never fails."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.folds import Audit, audit
from pinfold.context.said import SOURCES
from pinfold.store.results import Entry, FoldedPart
from tests.unit.sessions import Session, entry, part, pin

REDIS = pin(3, "Tokens live 15 minutes in src/auth/redis.py", "TTL_S is fixed")
PROXY = pin(7, "The proxy takes port 5004", seq=90)


def test_a_briefed_pin_was_present_as_a_whole_and_what_the_summary_does_not_hold_is_lost() -> None:
    found = audit(part(pins=(REDIS,)), "Tokens live 15 min; see Redis.py.", briefed=True)
    assert (found.present, found.lost) == ({3: 4}, {3: ("TTL_S", f"why: {REDIS.why}")})


def test_a_reason_is_kept_where_two_lines_of_the_summary_hold_half_of_it() -> None:
    redis = replace(REDIS, why="the mobile client cannot persist refresh tokens")
    summary = "15 minutes, redis.py, TTL_S;\nthe mobile client\nkeeps no tokens."
    assert audit(part(pins=(redis,)), summary, briefed=True).lost == {}


@pytest.mark.parametrize("source", SOURCES)
def test_where_no_reason_was_given_none_is_watched(source: str) -> None:
    assert audit(part(pins=(replace(PROXY, why=source),)), "", briefed=True).present == {7: 1}


def test_a_pin_that_nobody_was_shown_is_present_as_far_as_the_entries_name_it() -> None:
    folded = part(entry(10, "tool_result", "ttl_s = 900"), entry(11, "user", "15 minutes?"), pins=(REDIS,))
    found = audit(folded, "", briefed=False)
    assert (found.present, found.lost) == ({3: 2}, {3: ("15 minutes", "TTL_S")})


@pytest.mark.parametrize(("session", "present"), [(1, {7: 2}), (2, {})])
def test_a_pin_made_in_the_folded_part_was_present_as_the_call_that_made_it(
    session: int, present: dict[int, int]
) -> None:
    folded = part(entry(10, "user", "Go on."), pins=(replace(PROXY, session=session),))
    assert audit(folded, "", briefed=True).present == present


@pytest.mark.parametrize(("session", "lost"), [(1, {7: ("5004",)}), (2, {})])
def test_a_fold_is_not_blamed_for_a_pin_that_another_session_made_later(
    session: int, lost: dict[int, tuple[str, ...]]
) -> None:
    proxy = replace(PROXY, session=session, why=SOURCES[0])
    folded = part(entry(10, "tool_result", "listens on port 5004"), pins=(proxy,))
    before, after = "2026-01-01T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z"
    assert before < PROXY.at < after
    assert audit(folded, "", briefed=False, at=before).lost == lost
    assert audit(folded, "", briefed=False, at=after).lost == {7: ("5004",)}


def test_nothing_is_lost_where_everything_is_kept() -> None:
    folded = part(entry(10, "user", "Never use port 3000, because of x_y."), pins=(REDIS, PROXY))
    summary = f"{REDIS.text}\n{REDIS.why}\n{PROXY.text}\n{PROXY.why}\nNever use port 3000, because of x_y."
    assert audit(folded, summary, briefed=True) == Audit({3: 4, 7: 2})


def test_an_empty_part_gives_an_empty_audit() -> None:
    assert audit(part(), "", briefed=True) == Audit()


ROLES = st.sampled_from(("user", "assistant", "tool_call", "tool_result"))
WORDS = st.sampled_from(
    "we decided never must because x_y 15 minutes 1,500 Postgres 17 src/a.py /h/u/src/a.py a.py:4 9f86d08 #12"
    ' `q_r` v1.2.3 [ ] { } " \' ``` \n \n\n . ? 。 因为 必须 - | > --no-verify $HOME http://x.y/z {"k": \\n'.split(
        " "
    )
)
TEXTS = st.one_of(st.text(), st.lists(WORDS).map(" ".join))
ENTRIES = st.lists(st.tuples(ROLES, TEXTS), max_size=8).map(
    lambda rows: [entry(10 + place, role, text) for place, (role, text) in enumerate(rows)]
)
PINS = st.lists(TEXTS, max_size=3).map(
    lambda texts: tuple(pin(n, text or "x") for n, text in enumerate(texts, 1))
)


@given(ENTRIES, PINS, TEXTS, st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_text_is_audited_and_the_same_text_gives_the_same_audit(
    entries: list[Entry], pins: tuple[object, ...], summary: str, briefed: bool
) -> None:
    folded = FoldedPart(1, 5, tuple(entries), pins)  # type: ignore[arg-type]
    found = audit(folded, summary, briefed=briefed)
    assert found == audit(folded, summary, briefed=briefed)
    assert all(0 < len(lost) <= found.present[number] for number, lost in found.lost.items())


@given(ENTRIES, PINS)
@settings(max_examples=100, deadline=None)
def test_a_summary_that_contains_everything_loses_nothing_and_an_empty_one_all(
    entries: list[Entry], pins: tuple[object, ...]
) -> None:
    folded = FoldedPart(1, 5, tuple(entries), pins)  # type: ignore[arg-type]
    whole = "\n".join(each.text for each in entries)
    found = audit(folded, whole, briefed=False)
    assert (found.lost, found.offered) == ({}, ())
    emptied = audit(folded, "", briefed=False)
    assert {number: len(lost) for number, lost in emptied.lost.items()} == emptied.present == found.present


def big(count: int, chars: int) -> FoldedPart:
    """Build a part of so many entries and characters, among 100 pins."""
    session = Session(1)
    session.go_on(count)
    per_entry = chars // count
    entries = (
        replace(each, text=(f"{each.text}\n" * (per_entry // len(each.text) + 1))[:per_entry])
        for each in session.entries
    )
    pins = (pin(n, f"Use port {5_000 + n} in src/a_{n}.py, never x_{n}") for n in range(1, 101))
    return part(*entries, pins=tuple(pins))


@pytest.mark.parametrize(
    ("count", "chars", "seconds"),
    [
        (141, 650_000, 2),
        (2_000, 650_000, 2),
        pytest.param(20_000, 8_000_000, 8, marks=pytest.mark.full),
    ],
)
def test_a_window_of_164_000_tokens_is_audited_in_about_a_second(
    count: int, chars: int, seconds: float
) -> None:
    folded = big(count, chars)
    summary = "\n".join(each.text[:200] for each in folded.entries)[:12_000]
    began = time.thread_time()
    found = audit(folded, summary, briefed=False)
    assert time.thread_time() - began < seconds
    assert len(found.strings) > 50
