"""`pinfold replay`, the reckoning: what is sent, what folds and milder strategies take, against sums of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.lab.losses import Loss, Watch
from pinfold.context.lab.replay import Replay
from pinfold.context.lab.replayed import STRATEGIES, FoldMade, Replayed
from pinfold.context.projection import Budget, Message, Policy
from tests.secret_samples import mixed
from tests.unit.projections import generated, rough, tight

HOUR_S = 3_600.0
FIXED = 100


def _messages(seed: int, turns: int) -> list[Message]:
    """A conversation without sub-agents, every call answered, nothing pinned."""
    found = [replace(each, pinned=False) for each in generated(seed, turns) if not each.agent]
    answered = {each.answers for each in found if each.answers}
    return [replace(each, calls=tuple(call for call in each.calls if call in answered)) for each in found]


def _played(messages: Iterable[Message], policy: Policy, idle_s: float = 0.0) -> Replay:
    """Ask for a request after each prompt, and at the end."""
    played = Replay(policy)

    async def play() -> None:
        for message in messages:
            played.say(message)
            if message.role == "user":
                await played.ask(None, idle_s)
        await played.ask(None, idle_s)

    anyio.run(play)
    return played


def _sums(messages: Iterable[Message]) -> Iterator[int]:
    """What raw is at each request, counted anew."""
    total = FIXED
    for message in messages:
        total += rough(message.text)
        if message.role == "user":
            yield total
    yield total


def _policy(**caps: int) -> Policy:
    return replace(tight(), budget=Budget(1_600, system_prompt=60, tool_definitions=40), caps=caps)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from((0.0, HOUR_S)))
def test_what_is_projected_is_what_was_said_less_what_was_won_and_folded(seed: int, idle_s: float) -> None:
    messages = _messages(seed, 40)
    found = _played(messages, _policy(Bash=150), idle_s).result()
    assert [each.raw for each in found.sent] == list(_sums(messages))
    won = sum(each.tokens for each in found.won.values())
    folded = sum(each.before - each.after for each in found.folds)
    assert found.sent[-1].projected == found.sent[-1].raw - won - folded
    assert all(each.projected <= found.budget + FIXED for each in found.sent)
    assert found.totals["projected"] == sum(each.projected for each in found.sent)
    assert found.largest["raw"] == found.sent[-1].raw


def test_each_strategy_has_its_part_in_a_conversation_that_is_long_enough() -> None:
    found = _played(_messages(3, 120), _policy(Bash=150), HOUR_S).result()
    assert found.folds
    assert {name: (won.count > 0, won.tokens > 0) for name, won in found.won.items()} == dict.fromkeys(
        STRATEGIES, (True, True)
    )


def test_letting_go_of_what_cannot_be_shown_any_more_changes_nothing_and_bounds_what_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages = _messages(5, 130)
    lean = _played(messages, _policy())
    monkeypatch.setattr(Replay, "_let_go", lambda _: None)
    full = _played(messages, _policy())
    assert lean.result() == full.result()
    assert len(full._talk.history) > 3 * len(lean._talk.history)


def test_the_clients_folds_begin_its_count_anew_and_the_policys_none() -> None:
    played = Replay(Policy(Budget(10_000, system_prompt=FIXED), size=len))

    async def play() -> Replayed:
        played.say(Message(0, "user", "use port 5004 and src/cart.py"))
        await played.ask("2026-03-01T09:00:00Z")
        played.report(777)
        played.report(1)
        played.fold("port 5004")
        played.say(Message(0, "user", "go on"))
        await played.ask(None)
        played.fold("", 2_100)
        await played.ask(None)
        return played.result()

    found = anyio.run(play)
    said = len("use port 5004 and src/cart.py")
    assert [(each.raw, each.client, each.projected) for each in found.sent] == [
        (FIXED + said, FIXED + said, FIXED + said),
        (FIXED + said + 5, FIXED + len("port 5004") + 5, FIXED + said + 5),
        (FIXED + said + 5, FIXED + 2_000, FIXED + said + 5),
    ]
    assert [each.reported for each in found.sent] == [777, None, None]
    first, second = found.client_folds
    assert first == FoldMade(2, said, len("port 5004"), Loss(2, 1, ("src/cart.py",)))
    assert second == FoldMade(3, len("port 5004") + 5, 2_000, None)
    assert (found.avoided, found.totals["reported"]) == (2, 777)


def test_a_pin_is_paid_for_by_the_projection_alone_and_what_it_holds_no_fold_loses() -> None:
    policy = Policy(Budget(120), keep=0, size=rough)
    texts = [f"{'again and ' * 12} step {number} reads src/part_{number}.py" for number in range(12)]

    def lost(*pins: Message) -> set[str]:
        found = _played([*pins, *(Message(0, "user", text) for text in texts)], policy).result()
        assert found.folds
        assert found.sent[-1].raw == sum(map(rough, texts))
        return {part for each in found.folds if each.loss for part in each.loss.named}

    assert "src/part_0.py" in lost()
    assert "src/part_0.py" not in lost(Message(0, "system", "src/part_0.py", pinned=True))


def test_no_secret_is_among_what_is_named_as_lost() -> None:
    secret = f"ghp_{mixed(36)}"
    watch = Watch([f"The token is `{secret}` since v1.2.3."])
    loss = watch.loss("nothing of it")
    assert (loss.lost, loss.named[1:]) == (2, ("v1.2.3",))
    assert re.fullmatch(r"\[redacted:github-token:[0-9a-f]{8}\]", loss.named[0])
    assert watch.loss(f"the token {secret}").lost == 1


def test_a_request_that_cannot_be_made_to_fit_is_counted_and_the_replay_goes_on() -> None:
    policy = Policy(Budget(50), size=rough)
    pinned = Message(0, "system", "y" * 400, pinned=True)
    found = _played([pinned, Message(0, "user", "go"), Message(0, "user", "on")], policy).result()
    assert [(each.is_over, each.projected) for each in found.sent] == [(True, 101), (True, 102), (True, 102)]
    assert found.over == 3
