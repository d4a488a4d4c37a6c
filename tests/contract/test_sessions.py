from __future__ import annotations

import pytest

from pinfold.store import Store
from pinfold.store.commands import StartSession
from pinfold.store.results import StartedSession
from pinfold.store.values import Caller
from tests.contract.acts import ANNA, checkpoint, pin
from tests.contract.conftest import Open

pytestmark = pytest.mark.anyio

CLEARED = Caller("claude-code", "anna-after-clear")


async def _start(
    store: Store, caller: Caller, source: str = "startup", process: int | None = None
) -> StartedSession:
    return await store.start_session(StartSession(caller, source, process))


async def _session_of(store: Store, caller: Caller) -> int | None:
    return (await store.brief_state(caller)).session


async def test_a_started_session_is_begun_once_and_counts_for_later_writes(store: Store) -> None:
    first, again = await _start(store, ANNA), await _start(store, ANNA, "compact")
    assert (first.session, first.repeated) == (1, False)
    assert (again.session, again.repeated, again.receipt) == (1, True, None)
    assert (await pin(store, "kept")).pin.session == 1


async def test_after_a_clear_the_name_from_before_goes_on_in_the_new_session(store: Store) -> None:
    """A server that Claude Code started before `/clear` still has the first conversation's id."""
    await _start(store, ANNA, "startup", process=71)
    await _start(store, CLEARED, "clear", process=71)
    late = await pin(store, "only here", ANNA, session_only=True)
    assert late.pin.session == 2
    assert [each.text for each in (await store.brief_state(CLEARED)).pins] == ["only here"]


async def test_a_resumed_conversation_goes_on_in_its_own_session(store: Store) -> None:
    await _start(store, ANNA, "startup", process=71)
    await _start(store, CLEARED, "clear", process=71)
    resumed = await _start(store, ANNA, "resume", process=88)
    assert (resumed.session, resumed.repeated) == (1, False)
    assert (await _session_of(store, ANNA), await _session_of(store, CLEARED)) == (1, 2)


async def test_a_process_number_that_is_used_again_moves_nobody(store: Store) -> None:
    await _start(store, ANNA, "startup", process=71)
    await _start(store, CLEARED, "startup", process=71)
    assert (await _session_of(store, ANNA), await _session_of(store, CLEARED)) == (1, 2)


async def test_a_forked_conversation_stays_in_its_fork_when_it_is_resumed(store: Store) -> None:
    await _start(store, ANNA)
    saved = await checkpoint(store, goal="first way")
    await checkpoint(store, fork_of=saved.checkpoint.number)
    assert (await _start(store, ANNA, "resume")).session == 2


async def test_sessions_moved_by_a_clear_are_the_same_after_a_rebuild(store: Store, open_again: Open) -> None:
    await _start(store, ANNA, "startup", process=71)
    await _start(store, CLEARED, "clear", process=71)
    await _start(store, ANNA, "resume", process=88)
    assert (await store.verify()).problems == ()
    await store.rebuild()
    assert (await _session_of(store, ANNA), await _session_of(store, CLEARED)) == (1, 2)
