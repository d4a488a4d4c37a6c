"""The next request, on generated histories: whole, pinned, within its budget, the same each time. Source: design 4."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.projection import (
    Budget,
    Cache,
    Conversation,
    Folded,
    Hidden,
    Message,
    OverBudgetError,
    Policy,
    Request,
    Shortened,
    TooLongError,
    extractive,
    project,
)
from tests.unit.projections import generated, orphans, rough, tight

SEEDS = st.integers(0, 10**6)


def _play(seed: int, turns: int, policy: Policy, idle_s: float = 0.0) -> tuple[Conversation, list[Request]]:
    """Ask for a request after each user's message and at the end."""
    played = Conversation(policy, extractive())

    async def play() -> list[Request]:
        requests = []
        for message in generated(seed, turns):
            played.append(message)
            if message.role == "user":
                requests.append(await played.request(idle_s))
        return [*requests, await played.request(idle_s)]

    return played, anyio.run(play)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_no_call_stands_without_its_result_and_each_request_is_within_its_budget(seed: int) -> None:
    played, requests = _play(seed, 30, tight())
    for request in requests:
        assert orphans(request.messages) == set()
        assert request.used.total == sum(map(played.policy.tokens, request.messages)) <= 1_500
    assert any(isinstance(step, Folded) for step in played.history)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_pins_are_there_letter_for_letter_after_any_fold(seed: int) -> None:
    played, requests = _play(seed, 30, tight())
    pins = [step for step in played.history if isinstance(step, Message) and step.pinned]
    assert [each for each in requests[-1].messages if each.pinned] == pins


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_same_history_gives_the_same_request_and_its_replay_decides_nothing_more(seed: int) -> None:
    played, requests = _play(seed, 20, tight())
    again = Conversation(played.policy, extractive(), played.history)
    assert again.projected() == requests[-1] == project(played.history, played.policy)
    assert anyio.run(again.request) == requests[-1]
    assert again.history == played.history


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_request_begins_with_the_one_before_unless_a_decision_says_why_not(seed: int) -> None:
    played = Conversation(tight(3_000), extractive())

    async def play() -> None:
        before: tuple[Message, ...] = ()
        for message in generated(seed, 15):
            if message.role == "user" and played.history:
                end = len(played.history)
                request = await played.request()
                decided = [step for step in played.history[end:] if not isinstance(step, Message)]
                assert decided or request.messages[: len(before)] == before
                before = request.messages
            played.append(message)

    anyio.run(play)


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_the_past_is_projected_as_it_was(seed: int) -> None:
    played, requests = _play(seed, 12, tight(100_000))
    last = max(each.number for each in requests[3].messages)
    assert project(played.history, played.policy, as_of=last).messages == requests[3].messages


def test_a_fork_changes_nothing_in_its_origin() -> None:
    played, requests = _play(7, 10, tight())
    fork = Conversation(played.policy, extractive(), played.history)
    for message in generated(8, 10):
        fork.append(message)
    anyio.run(fork.request)
    assert played.projected() == requests[-1]


def test_pins_that_are_over_the_budget_by_themselves_are_an_explicit_refusal() -> None:
    played = Conversation(tight(100), extractive())
    for _ in range(3):
        played.append(Message(0, "user", "we keep this " * 20, pinned=True))
    with pytest.raises(OverBudgetError, match=r"195 tokens of 100, 195 of them pins"):
        anyio.run(played.request)


def test_a_long_result_becomes_a_preview_that_stays_the_same() -> None:
    played = Conversation(tight(), extractive())
    played.append(Message(0, "assistant", "", calls=("c",)))
    text = "a line\n" * 500
    stands = played.append(Message(0, "tool", text, answers="c", tool="Bash", pointer="A3"))
    assert stands.text == f"[Bash result, 3.5 KB, 875 tokens: A3]\n{text[:160]}…"
    assert anyio.run(played.request).messages[-1].text == stands.text


def test_disposable_output_is_cut_at_whole_lines_within_its_cap() -> None:
    played = Conversation(tight(caps={"Bash": 50}), extractive())
    stands = played.append(Message(0, "tool", "a line\n" * 500, answers="c", tool="Bash", pointer="A3"))
    assert rough(stands.text) <= 50
    assert stands.text.endswith("a line\n[cut here: the rest was not kept]")


def _reading(turns: int) -> Conversation:
    """A file is read once in each turn."""
    played = Conversation(Policy(Budget(100_000), size=rough, stale_turns=3), extractive())
    for turn in range(turns):
        played.append(Message(0, "user", f"turn {turn}"))
        played.append(Message(0, "assistant", "", calls=(f"c{turn}",)))
        text = "x = 1\n" * 200
        played.append(
            Message(0, "tool", text, answers=f"c{turn}", tool="Read", subject="a.py", pointer=f"A{turn + 1}")
        )
    return played


def test_stale_results_shrink_when_the_cache_is_cold() -> None:
    played = _reading(5)
    anyio.run(played.request, 301.0)
    texts = [each.text for each in played.projected().messages if each.role == "tool"]
    assert texts[0] == '[Read result of a.py: a newer one is below; fetch_pointer("A1") shows it]'
    assert [len(text) > 1_000 for text in texts] == [False] * 4 + [True]


def test_a_hot_prefix_stays_as_it_is_where_rewriting_it_costs_more_than_it_wins() -> None:
    played = _reading(2)
    for number in range(50):
        played.append(Message(0, "user" if number % 2 else "assistant", "and then " * 100))
    dear = Conversation(
        Policy(Budget(100_000), size=rough, stale_turns=100, cache=Cache(read=0.001)),
        extractive(),
        played.history,
    )
    anyio.run(dear.request, 10.0)
    assert not any(isinstance(step, Shortened) for step in dear.history)


@pytest.mark.parametrize("output", ["line\n" * 300, "{" + '"k":1,' * 300 + "}", "\n\n" + "x " * 600])
def test_output_of_any_shape_is_folded_and_the_harness_goes_on(output: str) -> None:
    talk = Conversation(Policy(Budget(600), spill=150, keep=200), extractive())

    async def turns() -> None:
        for turn in range(25):
            call = f"c{turn}"
            talk.append(Message(0, "user", f"asks {turn}"))
            talk.append(Message(0, "assistant", "", calls=(call,), tool="Bash", inputs="ls"))
            talk.append(Message(0, "tool", output, answers=call, tool="Bash", pointer=f"A{turn}"))
            assert (await talk.request()).fits

    anyio.run(turns)
    assert any(isinstance(step, Folded) for step in talk.history)


def test_of_a_tools_result_the_extractive_summary_has_the_first_line_alone() -> None:
    result = Message(1, "tool", "\n[Bash result: A7]\nline\nline\n", answers="c")
    said = Message(2, "user", "two\nlines")
    assert anyio.run(extractive(), [result, said], 10) == "- tool: [Bash result: A7]\n- user: two\nlines"


def test_a_summary_that_is_longer_than_what_it_is_about_is_cut_and_says_so() -> None:
    async def endless(_messages: Sequence[Message], _budget: int) -> str:
        return "what was decided\n" * 5_000

    talk = Conversation(Policy(Budget(200), keep=50), endless)
    for number in range(40):
        talk.append(Message(0, "user", f"Question {number} is put in rather many words, as people do."))
    request = anyio.run(talk.request)
    [summary] = [each.text for each in request.messages if each.role == "system"]
    head, *lines, last = summary.split("\n")
    assert head.startswith("[folded ")
    assert set(lines) == {"what was decided"}
    assert last == "[cut here: the rest was not kept]"
    assert request.fits


def test_silent_exchanges_are_hidden_before_anything_is_folded() -> None:
    played = Conversation(Policy(Budget(700), size=rough, stale_turns=1), extractive())
    for turn in range(3):
        played.append(Message(0, "user", f"turn {turn}"))
        played.append(Message(0, "assistant", "", calls=(f"c{turn}",)))
        played.append(Message(0, "tool", "output " * 150, answers=f"c{turn}", tool="Bash"))
    request = anyio.run(played.request)
    assert [step for step in played.history if isinstance(step, Hidden)] == [Hidden((2, 3))]
    assert not any(isinstance(step, Folded) for step in played.history)
    assert [each.text for each in request.messages if each.role == "user"] == ["turn 0", "turn 1", "turn 2"]


def test_what_calls_ask_for_is_paid_for_folded_and_gone_with_a_call_that_nobody_answered() -> None:
    policy = Policy(Budget(1_000), size=len, frame=1)
    asked = Message(1, "assistant", "", calls=("c",), inputs="path: a.py")
    answered = Message(2, "tool", "text", answers="c")
    assert project([asked, answered], policy).used.total == len("path: a.py") + len("text") + 2
    assert project([asked], policy).messages == ()
    told = replace(asked, text="Look.")
    assert project([told], policy).messages == (replace(told, calls=(), inputs=""),)

    async def summary() -> str:
        return await extractive()([asked, answered], 100)

    assert anyio.run(summary) == "- assistant: path: a.py\n- tool: text"


def test_what_a_sub_agent_explored_stays_out() -> None:
    played = Conversation(tight(), extractive())
    played.append(Message(0, "assistant", "looking around", agent="explorer"))
    played.append(Message(0, "assistant", "the explorer found it"))
    assert [each.text for each in played.projected().messages] == ["the explorer found it"]


@pytest.mark.parametrize("rejections", [0, 1, 2])
def test_a_request_that_is_too_long_is_folded_once_and_tried_once_more(rejections: int) -> None:
    played = Conversation(tight(), extractive())
    for message in generated(3, 4):
        played.append(message)
    sent: list[Request] = []

    async def send(request: Request) -> str:
        sent.append(request)
        if len(sent) <= rejections:
            raise TooLongError
        return "answer"

    async def ask() -> str:
        return await played.send(send)

    if rejections == 2:
        with pytest.raises(TooLongError):
            anyio.run(ask)
    else:
        assert anyio.run(ask) == "answer"
    assert len(sent) == min(rejections, 1) + 1
    if rejections:
        assert sent[1].used.total < sent[0].used.total


@pytest.mark.parametrize("messages", [10_000])
def test_ten_thousand_messages_are_projected_in_a_tenth_of_a_second(messages: int) -> None:
    played = Conversation(Policy(Budget(10**9)), extractive())
    while len(played.history) < messages:
        for message in generated(len(played.history), 50):
            played.append(message)
    took = []
    for _ in range(5):
        begun = time.process_time()
        played.projected()
        took.append(time.process_time() - begun)
    print(f"{len(played.history)} steps in {min(took) * 1_000:.1f} ms")
    assert min(took) < 0.1


def test_a_pin_that_came_amid_an_exchange_stands_behind_it() -> None:
    call = Message(1, "assistant", "", calls=("a", "b"))
    first, last = Message(2, "tool", "1", answers="a"), Message(4, "tool", "2", answers="b")
    pin = Message(3, "system", "we keep this", pinned=True)
    after = Message(5, "user", "go on")
    assert project([call, first, pin, last, after], tight()).messages == (call, first, last, pin, after)
    assert project([call, pin, after], tight()).messages == (pin, after), "of a call that was cut short"
