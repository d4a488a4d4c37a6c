"""What requests leave out from now on, and sessions that continue from any event of another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pinfold.store import Store
from pinfold.store.commands import CommitProjection, RecordFold, StartSession
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.forgetting import Forget
from pinfold.store.results import CommittedProjection
from pinfold.store.values import Caller, Pointer, PointerKind, Stale
from tests.contract.acts import ANNA, BEN, checkpoint, pin, say

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P3", "P4", "P31", "P38", "P39")]

FORK = Caller("claude-code", "another way")


async def _commit(store: Store, caller: Caller = ANNA, **what: Any) -> CommittedProjection:
    return await store.commit_projection(CommitProjection(caller, **what))


async def _seqs(store: Store, *texts: str) -> list[int]:
    return [int(pointer[1:]) for pointer in await say(store, *texts)]


async def _fork(store: Store, seq: int, caller: Caller = FORK) -> int:
    return (await store.start_session(StartSession(caller, fork_at=seq))).session


async def _last_body(store: Store) -> dict[str, Any]:
    end = (await store.log_end()).seq
    [event] = await store.logged(end - 1)
    assert event.body is not None
    body: dict[str, Any] = json.loads(event.body)
    return body | {"kind": event.kind, "session": event.session}


async def test_what_is_left_out_stands_in_the_log_of_its_session(store: Store) -> None:
    one, two = await _seqs(store, "one", "two")
    made = await _commit(store, hidden=(one,), reclaimed={two: Stale.OLD})
    body = await _last_body(store)
    assert (body["kind"], body["session"], made.receipt.seq) == ("projection.committed", 1, two + 1)
    assert (body["hidden"], body["reclaimed"]) == ([one], [[two, "old"]])
    entries = [await store.entry(seq) for seq in (one, two)]
    assert [each.text for each in entries] == ["one", "two"], "nothing is deleted"
    since = made.receipt.seq
    assert [each.omitted for each in entries] == [("hidden", since), ("old", since)]


async def test_the_newest_decision_about_a_message_is_the_one_that_is_said_of_it(store: Store) -> None:
    [one] = await _seqs(store, "one")
    await _commit(store, reclaimed={one: Stale.OLD})
    since = (await _commit(store, hidden=(one,))).receipt.seq
    for _ in range(2):
        assert (await store.entry(one)).omitted == ("hidden", since)
        await store.rebuild()


async def test_a_decision_is_committed_once_for_its_key(store: Store) -> None:
    [one] = await _seqs(store, "one")
    first = await _commit(store, hidden=(one,), key="k")
    again = await _commit(store, hidden=(one,), key="k")
    assert (first.repeated, again) == (False, CommittedProjection(first.receipt, repeated=True))
    with pytest.raises(ConflictError):
        await _commit(store, reclaimed={one: Stale.OLD}, key="k")
    assert (await store.log_end()).seq == first.receipt.seq


async def test_only_messages_that_the_session_has_can_be_left_out(store: Store) -> None:
    [one] = await _seqs(store, "one")
    pinned = (await pin(store, "kept")).receipt.seq
    for seqs, caller in (((one, pinned), ANNA), ((one,), BEN), ((99,), ANNA)):
        with pytest.raises(NotFoundError, match="no message of this conversation"):
            await _commit(store, caller, hidden=seqs)
    with pytest.raises(InvalidInputError):
        await _commit(store)
    assert (await store.log_end()).seq == pinned, "nothing was written"


async def test_a_fork_leaves_out_what_it_inherits_and_nothing_that_came_later(store: Store) -> None:
    one, two = await _seqs(store, "one", "two")
    await _fork(store, one)
    assert not (await _commit(store, FORK, hidden=(one,))).repeated
    with pytest.raises(NotFoundError):
        await _commit(store, FORK, hidden=(two,))


async def test_a_session_forked_at_an_event_inherits_what_was_there_and_changes_nothing_there(
    store: Store,
) -> None:
    await pin(store, "in this conversation only", session_only=True)
    [one] = await _seqs(store, "one")
    await pin(store, "too late", session_only=True)
    before = await store.logged(0, 1), await store.brief_state(ANNA)
    assert await _fork(store, one) == 2
    begun = (await store.logged(0, 2))[0]
    assert (begun.kind, begun.parent) == ("session.started", one)
    assert [each.text for each in (await store.brief_state(FORK)).pins] == ["in this conversation only"]
    now = await store.logged(0, 1), await store.brief_state(ANNA)
    assert (now[0], now[1].pins) == (before[0], before[1].pins)


async def test_a_session_forked_at_a_checkpoint_goes_on_from_it_also_once_that_is_forgotten(
    store: Store,
) -> None:
    await pin(store, "inherited", session_only=True)
    saved = await checkpoint(store, goal="ship")
    await checkpoint(store, goal="test")
    await _fork(store, saved.checkpoint.seq)
    assert (await store.brief_state(FORK)).checkpoint == saved.checkpoint
    await store.forget(Forget(BEN, (Pointer(PointerKind.CHECKPOINT, 1),)))
    assert [each.text for each in (await store.brief_state(FORK)).pins] == ["inherited"]


async def test_a_fork_that_is_asked_for_again_is_the_first_and_elsewhere_a_conflict(store: Store) -> None:
    one, two = await _seqs(store, "one", "two")
    assert await _fork(store, one) == await _fork(store, one) == 2
    with pytest.raises(ConflictError, match="goes on in session 2 already"):
        await _fork(store, two)
    with pytest.raises(NotFoundError, match="fork_at 99"):
        await _fork(store, 99, BEN)


async def test_a_fold_says_what_it_stands_for(store: Store) -> None:
    one, two = await _seqs(store, "one", "two")
    await store.record_fold(RecordFold(ANNA, "k", "projection", folded=(one, two)))
    assert (await _last_body(store))["folded"] == [one, two]


async def test_projections_and_forks_are_the_same_after_a_rebuild(store: Store) -> None:
    one, two = await _seqs(store, "one", "two")
    await pin(store, "in this conversation only", session_only=True)
    await _fork(store, (await store.log_end()).seq)
    await _commit(store, FORK, hidden=(one,), reclaimed={two: Stale.REPLACED})
    before = await store.brief_state(FORK)
    assert (await store.verify()).problems == ()
    await store.rebuild()
    assert (await store.verify()).problems == ()
    assert await store.brief_state(FORK) == before
    assert (await store.entry(one)).omitted is None, "it is the fork that leaves it out"
    with pytest.raises(ConflictError):
        await _fork(store, one)


async def test_a_message_is_forgotten_whatever_was_decided_about_it(store: Store) -> None:
    one, two = await _seqs(store, "my secret plan", "two")
    await _commit(store, hidden=(one, two))
    await store.forget(Forget(BEN, match="secret plan"))
    with pytest.raises(NotFoundError, match="forgotten"):
        await store.entry(one)
    bodies = [event.body or "" for event in await store.logged(0)]
    assert not any("secret plan" in body for body in bodies)
    assert (await store.verify()).problems == ()
