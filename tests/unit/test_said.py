"""Decisions that are said: which lines count, what is their text, what is their reason."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.said import AGENT_SAID, USER_SAID, Said, said
from pinfold.store.values import MAX_PIN_CHARS, MAX_WHY_CHARS, PinKind


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("DECISION: use port 5004", "decision", "use port 5004"),
        ("CONSTRAINT: never 3000", "constraint", "never 3000"),
        ("DEAD END: trigram, 3.6 GB", "dead_end", "trigram, 3.6 GB"),
        ("FACT:two cores", "fact", "two cores"),
        ("DECISION：使用 5004 端口", "decision", "使用 5004 端口"),
        ("DECISION : le port 5004", "decision", "le port 5004"),
        ("  \tDECISION: indented  ", "decision", "indented"),
        ("- DECISION: an item", "decision", "an item"),
        ("  * FACT: an item", "fact", "an item"),
        ("1. FACT: first", "fact", "first"),
        ("12) - FACT: nested", "fact", "nested"),
        ("**DECISION:** bold label", "decision", "bold label"),
        ("**DECISION**: bold word", "decision", "bold word"),
        ("- **DEAD END:** bold item", "dead_end", "bold item"),
        ("**DECISION: all of it**", "decision", "all of it"),
        ("__FACT:__ underlined", "fact", "underlined"),
        ("**FACT:** of **bold**", "fact", "of **bold**"),
        ("DECISION: keep `a_b`:  exactly:  so  ", "decision", "keep `a_b`:  exactly:  so"),
        ("DECISION: DECISION: twice", "decision", "DECISION: twice"),
    ],
)
def test_a_line_that_begins_with_its_label_is_said(line: str, kind: str, text: str) -> None:
    expected = (Said(PinKind(kind), text, USER_SAID),)
    assert said(line) == expected
    assert said(f"Hello.\r\n{line}\r\nnext line") == expected


@pytest.mark.parametrize(
    "text",
    [
        "decision: lower case",
        "Decision: capitalized",
        "The DECISION: inside",
        "DECISION use it",
        "DECISIONS: many",
        "DEAD_END: x",
        "> DECISION: quoted",
        "`DECISION: code`",
        "- `DECISION:` code",
        "# DECISION: a heading",
        "```\nDECISION: fenced\n```",
        "~~~ text\nDECISION: fenced\n~~~",
        "  ```md\n  DECISION: indented fence\n  ```",
        "- ```\n  FACT: fence of an item\n  ```",
        "````\n```\nFACT: inner fence\n```\n````",
        "```\nFACT: fence that is never closed",
        "```\nFACT: fence\n``` not closed by this\nFACT: still",
        "",
    ],
)
def test_other_lines_are_not(text: str) -> None:
    assert said(text) == ()


def test_code_that_has_ended_or_never_began_hides_nothing() -> None:
    text = "```\nx\n```\nFACT: a\n```inline``` code\nFACT: b\nuse ``` as a mark\nFACT: c"
    assert [each.text for each in said(text)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "kept", "why"),
    [
        ("FACT: port 5004\nWhy: the proxy takes 3000", "port 5004", "the proxy takes 3000"),
        ("- FACT: port 5004\n  - **Because:** the proxy", "port 5004", "the proxy"),
        ("FACT: 端口 5004\nWhy：代理", "端口 5004", "代理"),
        ("FACT: port 5004. Why: the proxy", "port 5004.", "the proxy"),
        ("FACT: port 5004 **Why:** the proxy\nWhy: not this", "port 5004", "the proxy"),
        ("FACT: port 5004 BECAUSE: the proxy", "port 5004", "the proxy"),
        ("FACT: port 5004, because the proxy. So.", "port 5004, because the proxy. So.", "the proxy"),
        ("FACT: 端口 5004，因为代理。", "端口 5004，因为代理。", "代理"),
        ("FACT: port 5004\n\nWhy: too far away", "port 5004", AGENT_SAID),
        ("FACT: port 5004\nwhy not: no", "port 5004", AGENT_SAID),
        ("FACT: port 5004\nWhy:", "port 5004", AGENT_SAID),
        ("FACT: answer whywhy: no", "answer whywhy: no", AGENT_SAID),
        ("FACT: port 5004\n  and more below", "port 5004", AGENT_SAID),
    ],
)
def test_the_reason_is_stated_or_the_clause_behind_because_or_who_said_it(
    text: str, kept: str, why: str
) -> None:
    assert said(text, AGENT_SAID) == (Said(PinKind.FACT, kept, why),)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("FACT:", "Nothing follows the colon on that line."),
        ("**FACT:**  \nbelow", "Nothing follows the colon on that line."),
        ("FACT: Why: x", "Nothing follows the colon on that line."),
        (f"FACT: {'x' * (MAX_PIN_CHARS + 1)}", "It has 2,001 characters; a pin holds at most 2,000."),
        (
            f"FACT: x\nWhy: {'y' * (MAX_WHY_CHARS + 1)}",
            "Its reason has 1,001 characters; at most 1,000 are kept.",
        ),
        ("FACT: a\0b", "It holds characters that are no text (NUL or half of a surrogate pair)."),
        ("FACT: a\ud800b", "It holds characters that are no text (NUL or half of a surrogate pair)."),
    ],
)
def test_what_cannot_be_pinned_says_why(text: str, fault: str) -> None:
    (found,) = said(text)
    assert found.fault == fault


def test_a_text_of_the_longest_length_is_no_fault() -> None:
    (found,) = said(f"FACT: {'x' * MAX_PIN_CHARS}")
    assert (len(found.text), found.fault) == (MAX_PIN_CHARS, None)


def test_several_are_found_in_order_each_once() -> None:
    found = said("FACT: a\nFACT: b\nDECISION: a\n- FACT: a")
    assert [(each.kind.value, each.text) for each in found] == [
        ("fact", "a"),
        ("fact", "b"),
        ("decision", "a"),
    ]


@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from("FACT: |Why: |\n|```|**|- |x|：|DEAD END".split("|"))).map("".join),
    )
)
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_and_what_is_said_stands_in_it(text: str) -> None:
    for each in said(text):
        assert each.text in text


@pytest.mark.parametrize(
    "unit", ["FACT: ", "FACT: x\n", "- ", "1. ", "**", "Why: ", "```\n", " ", "FACT: x because ", "\r"]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    began = time.thread_time()
    said((unit * 100_000)[:100_000])
    said("FACT: " + (unit * 100_000)[:100_000])
    assert time.thread_time() - began < 2
