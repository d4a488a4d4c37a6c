from __future__ import annotations

import pytest

from pinfold.store import Store
from pinfold.store.commands import StartSession
from pinfold.store.forgetting import Forget
from pinfold.store.results import StartedSession
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.contract.acts import ANNA, BEN, checkpoint, pin, say

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P4", "P31")]

CLEARED = Caller("claude-code", "anna-after-clear")
SERVER = Caller("claude-code", "anna", runs=("72", "71"))
"""Whoever was started by the client's process 71 while it was in Anna's first conversation."""


async def _start(store: Store, caller: Caller, run: str | None = None) -> StartedSession:
    return await store.start_session(StartSession(caller, run))


async def test_a_started_session_is_begun_once_and_counts_for_later_writes(store: Store) -> None:
    first, again = await _start(store, ANNA), await _start(store, ANNA)
    assert (first.session, first.repeated) == (1, False)
    assert (again.session, again.repeated, again.receipt) == (1, True, None)
    assert (await pin(store, "kept")).pin.session == 1


async def test_after_a_clear_the_server_of_before_writes_into_the_new_conversation(store: Store) -> None:
    """A server that Claude Code started before `/clear` still has the first conversation's id."""
    await _start(store, ANNA, run="71")
    assert (await pin(store, "before", SERVER)).pin.session == 1
    await _start(store, CLEARED, run="71")
    assert (await pin(store, "only here", SERVER, session_only=True)).pin.session == 2
    shown = [each.text for each in (await store.brief_state(CLEARED)).pins]
    assert shown == ["before", "only here"]
    assert (await store.brief_state(ANNA)).session == 1


async def test_a_server_that_no_session_start_knows_of_is_in_the_conversation_it_names(store: Store) -> None:
    await _start(store, CLEARED, run="88")
    assert (await pin(store, "kept", SERVER)).pin.session == 2


async def test_the_first_write_of_a_server_with_a_made_up_conversation_is_in_the_real_one(
    store: Store,
) -> None:
    """With `claude --continue` the server's environment names a conversation that never comes to be."""
    await _start(store, ANNA, run="71")
    stray = Caller("claude-code", "thrown away", runs=("71",))
    assert (await pin(store, "kept", stray)).pin.session == 1


async def test_sessions_are_listed_with_their_extent_and_the_fork_they_come_from(store: Store) -> None:
    assert await store.sessions(None, 10) == ()
    await _start(store, ANNA)
    await pin(store, "kept")
    saved = await checkpoint(store, goal="first way")
    await pin(store, "by another", BEN)
    await checkpoint(store, fork_of=saved.checkpoint.number)
    fork, ben, anna = await store.sessions(None, 10)
    assert (anna.name, anna.client, anna.conversation) == ("s1", "claude-code", "anna")
    assert (anna.seq, anna.last_seq, anna.events, anna.pins, anna.folds, anna.origin) == (1, 3, 3, 1, 0, None)
    assert (ben.number, ben.client, ben.seq, ben.last_seq, ben.pins) == (2, "codex", 4, 5, 1)
    assert (fork.number, fork.origin, fork.origin_session, fork.origin_seq) == (3, 1, 1, 3)
    assert (await store.log_end()).seq == fork.last_seq
    assert await store.sessions(3, 1) == (ben,)


async def test_a_session_whose_origin_was_forgotten_still_says_which_it_was(store: Store) -> None:
    saved = await checkpoint(store, goal="first way")
    await checkpoint(store, fork_of=saved.checkpoint.number)
    await store.forget(Forget(ANNA, pointers=(Pointer(PointerKind.CHECKPOINT, 1),)))
    fork = (await store.sessions(None, 1))[0]
    assert (fork.origin, fork.origin_session, fork.origin_seq) == (1, 1, 2)


async def test_a_session_that_was_forked_at_a_message_says_where(store: Store) -> None:
    await say(store, "one", "two")
    await store.start_session(StartSession(BEN, fork_at=2))
    fork, whole = await store.sessions(None, 2)
    assert (fork.origin, fork.origin_session, fork.origin_seq) == (None, 1, 2)
    assert (whole.origin, whole.origin_session, whole.origin_seq) == (None, None, None)


async def test_a_forked_conversation_stays_in_its_fork_when_it_is_resumed(store: Store) -> None:
    await _start(store, ANNA)
    saved = await checkpoint(store, goal="first way")
    await checkpoint(store, fork_of=saved.checkpoint.number)
    assert (await _start(store, ANNA)).session == 2


async def test_a_rebuild_leaves_everybody_in_their_conversations(store: Store) -> None:
    await _start(store, ANNA, run="71")
    await _start(store, CLEARED, run="71")
    assert (await store.verify()).problems == ()
    await store.rebuild()
    assert (await store.brief_state(SERVER)).session == 2


async def test_the_model_that_a_session_start_names_is_known_until_another_one_is(store: Store) -> None:
    named = StartSession(ANNA, "71", model="claude-opus-5-5")
    await store.start_session(named)
    await _start(store, ANNA, run="71")
    assert (await store.status()).model == "claude-opus-5-5"
