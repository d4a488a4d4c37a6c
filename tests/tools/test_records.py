"""Folds, and what requests leave out, cannot be made through the tools; how they are told is held here."""

from __future__ import annotations

import pytest

from pinfold.store import Store
from pinfold.store.commands import CommitProjection
from pinfold.store.results import Fold
from pinfold.store.values import Stale
from pinfold.tools.fetch_record import fold_line, fold_record
from tests.contract.acts import ANNA, say
from tests.tools.conftest import Call

FOLD = Fold(
    number=2,
    seq=90,
    at="2026-11-29T10:00:00.000000Z",
    session=3,
    trigger="auto",
    tokens_before=164_000,
    tokens_after=12_000,
    messages=141,
    summary=4,
    lost={7: ("15 minute", "Redis"), 9: ("--no-verify",)},
    offered=(("H12", "We chose Redis because of TTL."),),
    strings=(("src/auth.py", "H40"), ("TTL_S", "H12"), ("rotate_key", "H40")),
    present={7: 3, 9: 1},
)


def test_a_fold_is_told_in_one_line_with_its_reduction_and_losses() -> None:
    assert fold_line(FOLD) == (
        '"auto" compaction, 2026-11-29, session 3, 164,000 -> 12,000 tokens, 3 pinned specifics lost'
    )


def test_a_fold_names_what_was_lost_of_which_pin_and_where_it_can_be_found() -> None:
    record = fold_record(FOLD)
    assert record.document == (
        "Lost of P7: 15 minute, Redis\n"
        "Lost of P9: --no-verify\n"
        "Said before it, not in the summary: H12  We chose Redis because of TTL.\n"
        "H40: src/auth.py, rotate_key\n"
        "H12: TTL_S"
    )
    assert record.facts["lost"] == {"P7": ["15 minute", "Redis"], "P9": ["--no-verify"]}
    assert record.facts["present"] == {"P7": 3, "P9": 1}
    assert record.facts["strings"] == {"H40": ["src/auth.py", "rotate_key"], "H12": ["TTL_S"]}
    assert record.tail == "Its summary: A4"


@pytest.mark.anyio
async def test_an_entry_says_how_requests_leave_it_out_and_since_when(store: Store, tool: Call) -> None:
    one, two, whole = await say(store, "one", "two", "three")
    command = CommitProjection(ANNA, hidden=(int(one[1:]),), reclaimed={int(two[1:]): Stale.OLD})
    since = (await store.commit_projection(command)).receipt.seq
    for pointer, how in ((one, "hidden"), (two, "old")):
        reply = await tool("fetch_pointer", pointer=pointer)
        assert reply.structured["omitted"] == f"left out of requests since event {since} ({how})"
        assert f", {reply.structured['omitted']}\n" in reply.text
    assert "omitted" not in (await tool("fetch_pointer", pointer=whole)).structured
