from __future__ import annotations

import random

import anyio
import pytest

from pinfold.store import Store
from pinfold.store.commands import Message
from pinfold.store.errors import InvalidInputError
from pinfold.store.values import Pointer, PointerKind, Receipt
from tests.contract.acts import ANNA, BEN, checkpoint, find, pin, say, spill
from tests.contract.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P3", "P4", "P6", "P7", "P10")]


async def _busy_history(store: Store, seed: int) -> None:
    draw = random.Random(seed)
    live: list[int] = []
    for step in range(60):
        caller = draw.choice([ANNA, BEN])
        match draw.randrange(6):
            case 0 | 1:
                supersedes = (live.pop(draw.randrange(len(live))),) if live and draw.random() < 0.3 else ()
                live.append((await pin(store, f"decision {step}", caller, supersedes=supersedes)).pin.number)
            case 2:
                await spill(
                    store, b"line %d\n" % step * draw.randrange(1, 9_000), caller, label=f"run {step}"
                )
            case 3:
                pending = tuple(f"item {n}" for n in range(draw.randrange(4)))
                await checkpoint(store, caller, goal=f"goal {step}", pending=pending)
            case 4:
                await say(store, f"what about getUserById in step {step}?", "nothing", caller=caller)
            case 5:
                await find(store, f"zebra{step} nowhere")


@pytest.mark.parametrize("seed", [1, 2])
async def test_rebuilt_views_and_index_equal_the_live_ones(store: Store, seed: int) -> None:
    await _busy_history(store, seed)
    before = await store.verify()
    assert before.problems == ()
    state = await store.brief_state(ANNA)
    hits = (await find(store, "getUserById step")).hits
    assert await store.rebuild() == before.events
    assert (await store.verify()).problems == ()
    assert await store.brief_state(ANNA) == state
    assert (await find(store, "getUserById step")).hits == hits


async def test_seqs_are_gapless_and_ordered_as_acknowledged_between_two_handles(
    store: Store, open_again: Open
) -> None:
    other = await open_again()
    seqs = [
        (await pin(one, f"decision {n}", caller)).receipt.seq
        for n in range(20)
        for one, caller in ((store, ANNA), (other, BEN))
    ]
    assert seqs == sorted(seqs)
    report = await store.verify()
    assert report.events == seqs[-1]
    assert report.ok


async def test_a_write_of_one_handle_is_read_by_another_at_once(store: Store, open_again: Open) -> None:
    other = await open_again()
    await pin(store, "seen")
    assert (await other.pin(1)).pin.text == "seen"


async def test_each_message_is_appended_once_and_knows_its_neighbours(store: Store) -> None:
    messages = [Message("user", f"message {n}", external_id=f"m{n}") for n in range(3)]
    first = await store.append_messages(ANNA, messages)
    again = await store.append_messages(ANNA, [*messages, Message("user", "message 3", external_id="m3")])
    assert (first.appended, again.appended, again.repeated) == (3, 1, 3)
    entry = await store.entry(first.last_seq - 1)
    assert (entry.text, entry.before, entry.after) == ("message 1", first.last_seq - 2, first.last_seq)


async def test_many_tasks_on_one_store_each_get_their_own_number(store: Store) -> None:
    numbers: list[int] = []

    async def one(n: int) -> None:
        numbers.append((await pin(store, f"decision {n}")).pin.number)

    async with anyio.create_task_group() as group:
        for n in range(40):
            group.start_soon(one, n)
    assert sorted(numbers) == list(range(1, 41))


async def test_a_cancelled_write_is_whole_or_absent_and_the_store_goes_on(store: Store) -> None:
    for n in range(30):
        with anyio.move_on_after(0.0005 * (n % 4)):
            await pin(store, f"decision {n}", key=f"k{n}")
    for n in range(30):
        await pin(store, f"decision {n}", key=f"k{n}")
    assert len(await store.pins(None, 100)) == 30
    assert (await store.verify()).problems == ()


async def test_a_search_without_a_hit_is_a_miss_and_any_search_can_be_called_one(store: Store) -> None:
    await pin(store, "the cache lives in Redis")
    await find(store, "kangaroo")
    page = await find(store, "redis cache")
    assert page.pointer == "S2"
    assert [hit.pointer for hit in page.hits] == ["P1"]
    await find(store, "where is the cache", missed=Pointer(PointerKind.SEARCH, 2))
    assert [(m.number, m.query) for m in await store.misses(None, 10)] == [
        (2, "redis cache"),
        (1, "kangaroo"),
    ]
    assert (await store.search_record(2)).missed is not None


async def test_a_receipt_holds_only_for_the_log_that_gave_it(store: Store) -> None:
    first = (await pin(store, "one")).receipt
    second = (await pin(store, "two")).receipt
    assert (await store.verify(receipts=[first, second])).problems == ()
    wrong = Receipt(first.seq, "0" * 12)
    later = Receipt(second.seq + 1, second.digest)
    report = await store.verify(receipts=[wrong, later, Receipt.read(str(second))])
    assert [problem.split(":")[0] for problem in report.problems] == [
        f"receipt {wrong.seq}",
        f"receipt {later.seq}",
    ]


async def test_a_refused_search_leaves_the_earlier_one_as_it_was(store: Store) -> None:
    await pin(store, "the cache lives in Redis")
    await find(store, "redis cache")
    with pytest.raises(InvalidInputError):
        await find(store, "?!", missed=Pointer(PointerKind.SEARCH, 1))
    assert await store.misses(None, 10) == ()
    assert (await store.search_record(1)).missed is None
