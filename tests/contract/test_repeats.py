"""What reads the same is one hit that names the others, on whatever page, and nothing is lost by it."""

from __future__ import annotations

import random

import pytest

from pinfold.store import Store
from tests.contract.acts import find, pin, say, spill

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P7")]


async def test_what_reads_the_same_is_named_under_its_first_hit(store: Store) -> None:
    said = await say(
        store,
        "09:41:22.120 the alarm   rang",
        "09:41:25.001 The alarm rang",
        "09:41:25.001 the alarm rang for 25 s",
    )
    await spill(store, b"the kettle and the alarm rang\n" * 40)
    await spill(store, b"the kettle and the alarm rang\n" * 41)
    hits = (await find(store, "alarm rang")).hits
    together = sorted(sorted([hit.pointer, *hit.like]) for hit in hits)
    assert together == [["A1#L1", "A2#L1"], said[:2], said[2:]]


async def test_a_pin_under_a_message_that_reads_the_same_leaves_its_note_there(store: Store) -> None:
    await pin(store, "Keep all in redis", why="")
    await pin(store, "Use postgres for sessions", why="", supersedes=(1,))
    (said,) = await say(store, "Use postgres for sessions\n")
    for query in ("use postgres for sessions\nredis", "sessions\npostgres\nredis"):
        (hit,) = (await find(store, query)).hits
        assert (hit.pointer, hit.like) == (said, ("P2",))
        assert hit.note == "P2 replaces P1: Keep all in redis"


async def test_whatever_the_pages_each_match_is_a_hit_or_named_as_like_one(store: Store) -> None:
    draw = random.Random(5)
    said = await say(
        store, *(f"alarm {draw.randrange(9)} {draw.choice(['rang', 'RANG'])}" for _ in range(60))
    )
    found: list[str] = []
    cursor = None
    while True:
        page = await find(store, "alarm", limit=2, cursor=cursor)
        snippets = [hit.snippet.lower() for hit in page.hits]
        assert len(snippets) == len(set(snippets))
        found += [pointer for hit in page.hits for pointer in (hit.pointer, *hit.like)]
        found += page.repeats
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(found) == sorted(said)
