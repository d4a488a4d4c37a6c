from __future__ import annotations

import pytest

from pinfold.store import Store
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.results import PinHistory
from pinfold.store.values import Caller, PinKind
from tests.contract.acts import ANNA, BEN, checkpoint, find, pin
from tests.contract.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P3", "P4", "P31")]


async def test_a_pin_is_read_back_as_it_was_given(store: Store) -> None:
    text = "Refresh tokens live in Redis for 15 minutes,\n rotated on every use — «verbatim» 令牌 🎉"
    made = await pin(
        store, text, why="the client cannot persist them", files=("src/auth.py",), specifics=("15 minutes",)
    )
    assert (made.pin.pointer, made.repeated, made.pin.text) == ("P1", False, text)
    assert await store.pin(1) == PinHistory(made.pin, (), ())
    assert made.pin.files == ("src/auth.py",)
    assert made.pin.specifics == ("15 minutes",)
    assert len(made.receipt.digest) == 12


async def test_the_same_content_again_is_the_first_pin(store: Store, open_again: Open) -> None:
    first = await pin(store, "use uuid7")
    again = await pin(await open_again(), "use uuid7", caller=BEN)
    assert (again.pin, again.receipt, again.repeated) == (first.pin, first.receipt, True)


async def test_the_same_key_gives_the_first_result_and_other_arguments_conflict(store: Store) -> None:
    first = await pin(store, "use uuid7", key="k1")
    again = await pin(store, "use uuid7", key="k1", caller=BEN)
    assert (again.pin, again.repeated) == (first.pin, True)
    with pytest.raises(ConflictError, match="first write stands"):
        await pin(store, "use uuid4", key="k1")
    assert len(await store.pins(None, 10)) == 1


async def test_a_superseded_pin_keeps_its_history_and_cannot_be_superseded_twice(store: Store) -> None:
    await pin(store, "use Exa")
    second = await pin(store, "use Jina", supersedes=(1,))
    history = await store.pin(1)
    assert (history.pin.number, [p.number for p in history.others]) == (1, [2])
    assert history.pin.superseded_by == 2
    with pytest.raises(ConflictError, match="current pin is P2"):
        await pin(store, "use Bing", supersedes=(1,))
    assert second.live_pins == 1


async def test_a_retry_that_supersedes_is_a_repeat_and_no_conflict(store: Store) -> None:
    await pin(store, "use Exa")
    await pin(store, "use Jina", supersedes=(1,))
    assert (await pin(store, "use Jina", supersedes=(1,))).repeated


async def test_a_superseded_text_can_be_pinned_anew(store: Store) -> None:
    await pin(store, "use Exa")
    await pin(store, "use Jina", supersedes=(1,))
    back = await pin(store, "use Exa", supersedes=(2,))
    assert (back.pin.number, back.repeated) == (3, False)


async def test_superseding_an_unknown_pin_stores_nothing(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no such pin"):
        await pin(store, "use Jina", supersedes=(9,))
    assert (await store.status()).events == 0


async def test_similar_pins_and_dead_ends_are_named(store: Store) -> None:
    await pin(store, "cache the parsed configuration in memory for 10 minutes")
    await pin(store, "caching parsed configuration on disk", kind=PinKind.DEAD_END)
    made = await pin(store, "cache the parsed configuration in memory for 20 minutes")
    assert [alike.pin.number for alike in made.similar] == [1]
    assert [alike.pin.number for alike in made.dead_ends] == [2]


async def test_a_session_only_pin_is_in_its_own_brief_and_in_that_of_a_fork(store: Store) -> None:
    await pin(store, "for now use the staging key", session_only=True)
    await checkpoint(store, goal="migrate")
    await checkpoint(store, caller=BEN, fork_of=1)
    await pin(store, "later one", session_only=True)

    async def shown(caller: Caller | None) -> list[int]:
        return [p.number for p in (await store.brief_state(caller)).pins]

    assert await shown(ANNA) == [1, 2]
    assert await shown(BEN) == [1]
    assert await shown(None) == []


async def test_a_new_pin_is_compared_and_counted_with_what_its_own_sessions_brief_shows(store: Store) -> None:
    await pin(store, "use the staging key for imports", session_only=True)
    await checkpoint(store, goal="migrate")
    await checkpoint(store, caller=BEN, fork_of=1)
    await pin(store, "use the staging key for exports", session_only=True)

    async def shown(caller: Caller, text: str) -> tuple[list[int], int, int]:
        made = await pin(store, text, caller)
        return sorted(alike.pin.number for alike in made.similar), made.live_pins, made.live_tokens

    assert await shown(ANNA, "use the staging key today") == ([1, 2], 3, 15)
    assert await shown(BEN, "use the staging key tonight") == ([1, 3], 3, 15)
    assert await shown(Caller("codex", "carl"), "use the staging key once") == ([3, 4], 3, 15)


async def test_a_pin_for_one_session_cannot_take_a_pin_from_all_others(store: Store) -> None:
    await pin(store, "use Exa")
    with pytest.raises(InvalidInputError, match="whole project"):
        await pin(store, "use Jina for now", session_only=True, supersedes=(1,))
    await pin(store, "use Bing for now", session_only=True)
    await pin(store, "use Jina for now", session_only=True, supersedes=(2,))
    assert [p.number for p in (await store.brief_state(BEN)).pins] == [1]


async def test_unknown_pins_say_where_to_look(store: Store) -> None:
    with pytest.raises(NotFoundError, match=r'P9: there is no such pin.*fetch_pointer\("pins"\)'):
        await store.pin(9)


async def test_an_equal_text_that_supersedes_or_concerns_more_is_no_repeat(store: Store) -> None:
    await pin(store, "use Exa", files=("a.py",))
    await pin(store, "use Jina")
    back = await pin(store, "use Exa", files=("a.py",), supersedes=(2,))
    assert (back.pin.supersedes, back.repeated) == ((2,), False)
    assert (await store.pin(2)).pin.superseded_by == 3
    assert (await pin(store, "use Exa", files=("a.py", "b.py"))).pin.files == ("a.py", "b.py")
    assert (await pin(store, "use Exa", files=("a.py",))).repeated
    with pytest.raises(NotFoundError):
        await pin(store, "use Exa", files=("a.py",), supersedes=(9,))


BEFORE, AFTER = "2020-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"


@pytest.mark.parametrize("caller", [ANNA, BEN])
async def test_what_is_said_again_while_it_stands_is_the_pin_that_stands(
    store: Store, caller: Caller
) -> None:
    """Whoever says it, however long ago: a reading of transcripts does not make pins twice."""
    first = await pin(store, "The port is 8080.", ANNA, why="The user said so.")
    again = await pin(store, "The port is 8080.", caller, why="The agent said so.", said_at=BEFORE)
    assert (again.repeated, again.pin.number) == (True, first.pin.number)


async def test_what_was_said_before_it_was_superseded_does_not_come_back(store: Store) -> None:
    await pin(store, "The port is 8080.", said_at=BEFORE)
    await pin(store, "The port is 9090.", supersedes=(1,))
    old = await pin(store, "The port is 8080.", BEN, said_at=BEFORE)
    unknown = await pin(store, "The port is 8080.", BEN, said_at="")
    assert (old.repeated, old.pin.number, unknown.repeated) == (True, 1, True)
    new = await pin(store, "The port is 8080.", BEN, said_at=AFTER)
    assert (new.repeated, new.pin.number) == (False, 3)


async def test_a_pin_of_what_was_said_has_the_time_at_which_it_was_said(store: Store) -> None:
    made = await pin(store, "The port is 8080.", said_at=BEFORE)
    assert made.pin.at == BEFORE
    assert (await find(store, "port 8080")).hits[0].at == BEFORE
    assert (await store.verify()).problems == ()
