"""What a kept conversation decides, as events; who else writes, forgets, forks or is killed meanwhile."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pinfold.context.projection import (
    Folded,
    Hidden,
    Message,
    OverBudgetError,
    Request,
    Shortened,
    TooLongError,
    extractive,
)
from pinfold.context.projection.kept import KeptConversation, fork_conversation
from pinfold.store import Store
from pinfold.store.commands import RecordFold
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.events import Kind
from pinfold.store.forgetting import Forget
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.contract.acts import checkpoint, spill
from tests.store.children import child, line_of
from tests.unit.kept_talks import ANNA, BEN, FORK, opened, small, turns_of
from tests.unit.projections import tight

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P1", "P4", "P31", "P38")]

APPENDING = """
import sys
from pathlib import Path
import anyio
from pinfold.context.projection import Message
from pinfold.store.sqlite.store import open_store
from tests.unit.kept_talks import opened

async def main():
    talk = await opened(await open_store(Path(sys.argv[1]), "demo"))
    for number in range(10**6):
        await talk.append(Message(0, "user", f"message {number} " + "word " * 60), key=f"{number}")
        await talk.request()
        print(number, flush=True)

anyio.run(main)
"""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(tmp_path / "store", "demo")
    yield store
    await store.close()


@pytest.fixture
async def talk(store: Store) -> KeptConversation:
    return await opened(store)


async def _say(talk: KeptConversation, *texts: str) -> None:
    await talk.append(*(Message(0, "user", text) for text in texts))


async def _bodies(store: Store, kind: Kind) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = 0
    while events := await store.logged(after):
        found += [json.loads(one.body) for one in events if one.kind == kind and one.body]
        after = events[-1].seq
    return found


async def test_each_decision_is_an_event(store: Store) -> None:
    talk = await opened(store, policy=small())
    for turn in turns_of(8, 14):
        await talk.append(*turn)
        await talk.request(400.0)
    committed = await _bodies(store, Kind.PROJECTION_COMMITTED)
    told = [Hidden(tuple(body["hidden"])) for body in committed if body["hidden"]]
    assert [step for step in talk.history if isinstance(step, Hidden)] == told
    short = [step for step in talk.history if isinstance(step, Shortened)]
    reclaimed = [tuple(pair) for body in committed for pair in body["reclaimed"]]
    assert [(step.message, step.why) for step in short] == reclaimed
    assert {why for _, why in reclaimed} == {"old", "a newer one is below"}


async def test_a_fold_is_recorded_with_what_it_stands_for_and_its_size(
    store: Store, talk: KeptConversation
) -> None:
    await _say(talk, *(f"{number} " + "word " * 80 for number in range(10)))
    request = await talk.request()
    [folded] = [step for step in talk.history if isinstance(step, Folded)]
    assert folded in [Folded(each.number, folded.messages, each.text) for each in request.messages]
    fold = await store.fold(1)
    assert (fold.seq, fold.trigger, fold.messages) == (folded.number, "projection", len(folded.messages))
    assert (fold.tokens_before, fold.tokens_after) == (
        len(folded.messages) * 100,
        talk.policy.size(folded.text),
    )
    assert fold.summary is not None
    assert (await store.artifact_bytes(fold.summary, 0, 10_000)).content.decode() == folded.text


async def test_a_fold_is_audited_as_every_other_one(store: Store, talk: KeptConversation) -> None:
    decided = "We decided to keep the sessions in Redis for 15 minutes, because phones drop them."
    await _say(talk, f"{'word ' * 20}. {decided}", *("word " * 60 for _ in range(5)))
    await talk.fold()
    first = await store.fold(1)
    [(pointer, sentence)] = first.offered
    assert (pointer, sentence) == ("H2", decided)
    assert (await store.brief_state(ANNA)).fold == first
    assert (await store.verify()).problems == ()


@pytest.mark.parametrize("rejections", [0, 1, 2])
async def test_a_request_that_is_too_long_is_folded_and_sent_once_more_and_no_further(
    store: Store, talk: KeptConversation, rejections: int
) -> None:
    await _say(talk, *("word " * 80 for _ in range(5)))
    sent: list[Request] = []

    async def model(request: Request) -> str:
        sent.append(request)
        if len(sent) <= rejections:
            raise TooLongError
        return "answer"

    if rejections == 2:
        with pytest.raises(TooLongError):
            await talk.send(model)
    else:
        assert await talk.send(model) == "answer"
    assert len(await store.folds(None, 10)) == min(rejections, 1) == len(sent) - 1
    assert (await opened(store)).projected() == sent[-1]


async def test_pins_over_the_budget_are_an_explicit_refusal_and_decide_nothing(store: Store) -> None:
    talk = await opened(store, policy=tight(100))
    await talk.pin("we keep this " * 50, "")
    with pytest.raises(OverBudgetError, match="of 100, "):
        await talk.request()
    assert await store.folds(None, 10) == ()
    await talk.pin("we keep less", "", supersedes=[1])
    assert [each.pointer for each in (await talk.request()).messages] == ["P2"]


async def test_what_another_process_appends_and_pins_is_in_the_next_request(
    store: Store, talk: KeptConversation, tmp_path: Path
) -> None:
    await _say(talk, "mine")
    other = await open_store(tmp_path / "store", "demo")
    try:
        elsewhere = await opened(other)
        await _say(elsewhere, "theirs")
        await (await opened(other, BEN)).pin("Ben's pin", "")
        assert [each.pointer for each in (await talk.request()).messages] == ["H2", "H3", "P1"]
        assert (await elsewhere.request()).messages == (await talk.request()).messages
    finally:
        await other.close()


async def test_what_is_forgotten_is_in_no_request_of_whoever_has_it_open(
    store: Store, talk: KeptConversation
) -> None:
    await _say(talk, "one", "my secret plan", "three")
    await talk.pin("the plan is secret", "")
    await store.forget(Forget(BEN, match="secret"))
    assert [each.text for each in (await talk.request()).messages] == ["one", "three"]
    assert (await opened(store)).history == talk.history


async def test_a_forgotten_fold_gives_back_what_it_stood_for(store: Store, talk: KeptConversation) -> None:
    await _say(talk, *(f"{number} " + "word " * 60 for number in range(5)))
    before = talk.projected()
    assert await talk.fold()
    assert talk.projected() != before
    await store.forget(Forget(BEN, (Pointer(PointerKind.FOLD, 1),)))
    await talk.read_on()
    assert talk.projected() == before


async def test_a_fold_that_is_told_anew_without_the_forgotten_keeps_its_place(
    store: Store, talk: KeptConversation
) -> None:
    await talk.pin("short lived", "")
    await _say(talk, "one", "two", "three")
    summary = talk._entrance.summary("what was said")
    folded = tuple(step.number for step in talk.history if isinstance(step, Message) and not step.pinned)
    command = RecordFold(ANNA, "k", "auto", summary=summary, lost={1: ("7",)}, folded=folded)
    await store.record_fold(command)
    summary.content.close()
    await _say(talk, "after")
    before, then = [each.text for each in (await talk.request()).messages], talk.seq
    await store.forget(Forget(BEN, (Pointer(PointerKind.PIN, 1),)))
    assert [each.text for each in (await talk.request()).messages] == before[1:] == ["what was said", "after"]
    assert [each.text for each in (await talk.as_of(then)).messages] == before[1:]
    fork = await fork_conversation(store, FORK, then, small(), extractive())
    assert [each.text for each in (await fork.request()).messages] == before[1:]


async def test_a_pin_whose_successor_was_forgotten_does_not_come_back(
    store: Store, talk: KeptConversation
) -> None:
    await talk.pin("port 5432", "")
    await talk.pin("port 5433", "", supersedes=[1])
    await store.forget(Forget(BEN, (Pointer(PointerKind.PIN, 2),)))
    assert (await talk.request()).messages == (await opened(store)).projected().messages == ()


async def test_a_clients_own_compaction_stands_for_all_that_was_said_before(
    store: Store, talk: KeptConversation
) -> None:
    await _say(talk, "one", "two")
    await talk.pin("kept", "")
    summary = talk._entrance.summary("they said one and two")
    await store.record_fold(RecordFold(ANNA, "boundary", "auto", summary=summary))
    summary.content.close()
    await _say(talk, "three")
    assert [each.text for each in (await talk.request()).messages] == [
        "they said one and two",
        "[P1 decision] kept",
        "three",
    ]


async def test_a_fork_of_a_fork_has_what_each_had_at_its_fork_and_the_same_pointers(
    store: Store, talk: KeptConversation
) -> None:
    await talk.append(Message(0, "assistant", "", calls=("c",), tool="Bash"))
    await talk.append(Message(0, "tool", "output\n" * 400, answers="c", tool="Bash"))
    saved = await checkpoint(store, caller=ANNA, goal="ship")
    await _say(talk, "too late for a fork")
    at = Pointer(PointerKind.CHECKPOINT, saved.checkpoint.number)
    first = await fork_conversation(store, FORK, at, small(), extractive())
    await _say(first, "in the fork")
    second = await fork_conversation(store, Caller("harness", "2"), first.seq, small(), extractive())
    await _say(first, "too late for the second")
    await _say(second, "in the second")
    texts = [each.text for each in (await second.request()).messages if each.role == "user"]
    assert texts == ["in the fork", "in the second"]
    assert [each.pointer for each in second.projected().messages if each.role == "tool"] == ["A1"]
    assert len(await store.artifacts(None, 10)) == 1, "nothing is copied"


async def test_a_fork_begins_at_an_entry_or_a_fold_and_at_nothing_that_has_no_place(
    store: Store, talk: KeptConversation
) -> None:
    await _say(talk, "one " * 90, "two " * 90, "three")
    at = Pointer(PointerKind.ENTRY, 3)
    fork = await fork_conversation(store, FORK, at, small(), extractive())
    assert [each.pointer for each in fork.projected().messages] == ["H2", "H3"]
    assert await talk.fold()
    fold = Pointer(PointerKind.FOLD, 1)
    again = await fork_conversation(store, Caller("harness", "2"), fold, small(), extractive())
    assert again.projected() == talk.projected()
    with pytest.raises(InvalidInputError, match="P1 is no place in a conversation"):
        await fork_conversation(store, BEN, Pointer(PointerKind.PIN, 1), small(), extractive())


async def test_a_fork_that_began_elsewhere_and_a_time_to_come_are_refused(
    store: Store, talk: KeptConversation
) -> None:
    await _say(talk, "one")
    await fork_conversation(store, FORK, talk.seq, small(), extractive())
    with pytest.raises(ConflictError):
        await fork_conversation(store, FORK, 1, small(), extractive())
    with pytest.raises(NotFoundError, match="as of 99: the log has 3 events"):
        await talk.as_of(99)


async def test_what_others_store_meanwhile_changes_no_request(store: Store, talk: KeptConversation) -> None:
    await _say(talk, "mine")
    before = await talk.request()
    await _say(await opened(store, BEN), "not yours")
    await spill(store, b"bytes", BEN)
    assert await talk.request() == before
    assert talk.seq == (await store.log_end()).seq


async def test_a_harness_that_is_killed_goes_on_with_each_message_once(tmp_path: Path) -> None:
    with child(APPENDING, tmp_path / "store") as running:
        while int(line_of(running)) < 12:
            pass
        running.kill()
        running.wait()
    store = await open_store(tmp_path / "store", "demo")
    try:
        talk = await opened(store)
        for number in range(20):
            await talk.append(Message(0, "user", f"message {number} " + "word " * 60), key=f"{number}")
        said = [step.text.split()[1] for step in talk.history if isinstance(step, Message)]
        assert said[:20] == [str(number) for number in range(20)]
        assert len(said) == len(set(said))
        assert any(isinstance(step, Folded) for step in talk.history)
        assert (await opened(store)).projected() == talk.projected()
    finally:
        await store.close()
