from __future__ import annotations

import pytest

from pinfold.store import Store
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.values import Caller
from tests.contract.acts import ANNA, BEN, checkpoint, pin

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P3", "P4", "P31")]


async def test_a_checkpoint_says_what_opened_closed_and_stayed(store: Store) -> None:
    await checkpoint(store, goal="ship", pending=("a", "b", "c"))
    second = await checkpoint(store, goal="ship", done=("a",), pending=("b", "d"))
    assert (second.previous, second.opened, second.closed, second.kept) == (1, ("d",), ("a", "c"), ("b",))
    assert await store.checkpoint(2) == second.checkpoint


async def test_an_item_that_is_done_is_not_open_even_if_it_is_listed_as_pending(store: Store) -> None:
    made = await checkpoint(store, goal="ship", done=("a",), pending=("a", "b"))
    assert made.opened == ("b",)


async def test_the_same_state_again_is_the_first_checkpoint_until_it_changed_in_between(store: Store) -> None:
    first = await checkpoint(store, goal="ship", pending=("a",))
    again = await checkpoint(store, goal="ship", pending=("a",))
    assert (again.checkpoint, again.repeated) == (first.checkpoint, True)
    await checkpoint(store, goal="ship", pending=("b",))
    assert (await checkpoint(store, goal="ship", pending=("a",))).checkpoint.number == 3


async def test_a_key_makes_a_checkpoint_and_a_fork_repeatable(store: Store) -> None:
    await checkpoint(store, goal="ship", key="c")
    assert (await checkpoint(store, goal="ship", key="c")).repeated
    fork = await checkpoint(store, caller=BEN, fork_of=1, key="f")
    again = await checkpoint(store, caller=BEN, fork_of=1, key="f")
    assert (again.session, again.repeated) == (fork.session, True)
    with pytest.raises(ConflictError):
        await checkpoint(store, caller=BEN, goal="other", fork_of=1, key="f")


async def test_a_fork_moves_the_conversation_and_leaves_its_origin_alone(store: Store) -> None:
    await checkpoint(store, goal="ship", pending=("a", "b"))
    origin = await store.brief_state(ANNA)
    fork = await checkpoint(store, caller=BEN, fork_of=1)
    assert (fork.session, fork.forked_from, fork.checkpoint.number) == (2, 1, 1)
    later = await checkpoint(store, caller=BEN, goal="ship differently", pending=("b",))
    assert (later.session, later.previous, later.closed) == (2, 1, ("a",))
    now = await store.brief_state(ANNA)
    assert (now.checkpoint, now.pins) == (origin.checkpoint, origin.pins)
    assert (await store.brief_state(BEN)).checkpoint == later.checkpoint


async def test_a_new_conversation_goes_on_from_the_newest_checkpoint_of_the_project(store: Store) -> None:
    await checkpoint(store, goal="ship")
    await checkpoint(store, caller=BEN, goal="test")
    found = (await store.brief_state(Caller("codex", "new"))).checkpoint
    assert found is not None
    assert found.goal == "test"


async def test_an_item_closed_in_a_later_checkpoint_is_closed_for_all(store: Store) -> None:
    await checkpoint(store, goal="ship", pending=("a", "b"))
    await checkpoint(store, caller=BEN, goal="test", done=("a",))
    assert (await store.brief_state(ANNA)).closed == ("a",)


async def test_a_brief_as_of_an_earlier_seq_shows_that_time(store: Store) -> None:
    await pin(store, "one")
    first = await checkpoint(store, goal="ship")
    await pin(store, "two", supersedes=(1,))
    await checkpoint(store, goal="test")
    then = await store.brief_state(ANNA, first.receipt.seq)
    assert ([p.text for p in then.pins], then.pins[0].superseded_by) == (["one"], None)
    assert then.checkpoint == first.checkpoint


async def test_an_empty_state_and_an_unknown_origin_are_refused(store: Store) -> None:
    with pytest.raises(InvalidInputError):
        await checkpoint(store)
    with pytest.raises(NotFoundError, match="fork_of C7"):
        await checkpoint(store, fork_of=7)
    assert (await store.status()).events == 0


async def test_a_fork_sent_twice_is_one_fork_until_something_is_written_in_it(store: Store) -> None:
    await checkpoint(store, goal="ship")
    bare = await checkpoint(store, caller=BEN, fork_of=1)
    again = await checkpoint(store, caller=BEN, fork_of=1)
    assert (again.session, again.repeated) == (bare.session, True)
    full = await checkpoint(store, caller=BEN, fork_of=1, goal="ship differently")
    repeat = await checkpoint(store, caller=BEN, fork_of=1, goal="ship differently")
    assert (repeat.checkpoint, repeat.repeated) == (full.checkpoint, True)
    await pin(store, "use Exa", caller=BEN)
    anew = await checkpoint(store, caller=BEN, fork_of=1, goal="ship differently")
    assert (anew.session, anew.repeated) == (full.session + 1, False)


async def test_a_bare_fork_opens_nothing_and_keeps_what_nobody_has_closed_since(store: Store) -> None:
    await checkpoint(store, goal="ship", pending=("a", "b"))
    await checkpoint(store, goal="ship", done=("a",), pending=("b",))
    fork = await checkpoint(store, caller=BEN, fork_of=1)
    assert (fork.previous, fork.opened, fork.closed, fork.kept) == (1, (), ("a",), ("b",))


async def test_what_a_checkpoint_itself_says_is_done_is_closed_in_its_brief(store: Store) -> None:
    await checkpoint(store, goal="ship", done=("a",), pending=("a", "b"))
    assert (await store.brief_state(ANNA)).closed == ("a",)


async def test_a_brief_as_of_what_is_not_there_yet_is_refused(store: Store) -> None:
    await checkpoint(store, goal="ship")
    with pytest.raises(NotFoundError, match="the log has 2 events"):
        await store.brief_state(ANNA, 3)


async def test_a_receipt_of_a_superseding_pin_stands_behind_all_that_it_did(store: Store) -> None:
    await pin(store, "one")
    made = await pin(store, "two", supersedes=(1,))
    then = await store.brief_state(None, made.receipt.seq)
    assert [p.text for p in then.pins] == ["two"]
    assert (await pin(store, "two", supersedes=(1,))).receipt == made.receipt
    assert (await store.verify(receipts=[made.receipt])).ok
