"""pin_decision, checkpoint_state, search_history and what fetch_pointer gives back of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pinfold.context.tokens import count
from pinfold.store import Store
from pinfold.store.commands import Message
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.values import Caller
from pinfold.tools import Desk, call
from tests.tools.conftest import Call

pytestmark = pytest.mark.anyio

TEXT = "Store refresh tokens in Redis with a 15 minute TTL"
WHY = "the mobile client cannot persist tokens between restarts"


async def test_a_pin_comes_back_byte_for_byte_with_its_reason(tool: Call) -> None:
    pinned = await tool("pin_decision", text=TEXT, why=WHY, files=["src/auth.py"], kind="constraint")
    assert pinned.structured["pointer"] == "P1"
    assert pinned.structured["status"] == "pinned"
    assert "15 minute" in pinned.structured["watched"]
    assert pinned.structured["live"]["pins"] == 1
    assert pinned.structured["live"]["of"] == 2_000
    assert pinned.text.startswith(f"P1 constraint pinned, receipt {pinned.structured['receipt']}\n")
    fetched = await tool("fetch_pointer", pointer="`p1`")
    assert (fetched.structured["text"], fetched.structured["why"]) == (TEXT, WHY)
    assert fetched.structured["files"] == ["src/auth.py"]
    assert fetched.structured["kind"] == "constraint"
    assert TEXT in fetched.text


async def test_the_tokens_of_live_pins_are_those_of_their_lines(tool: Call, store: Store, desk: Desk) -> None:
    reply = await tool("pin_decision", text=TEXT, why=WHY)
    state = await store.brief_state(desk.caller)
    assert reply.structured["live"]["tokens"] == state.pins[0].tokens
    assert count(TEXT + WHY) < state.pins[0].tokens < count(TEXT + WHY) + 15


async def test_both_sides_of_a_pin_say_that_it_is_for_one_session(tool: Call) -> None:
    await tool("pin_decision", text="try Redis first", why="spike", session_only=True)
    reply = await tool("fetch_pointer", pointer="P1")
    assert reply.structured["session_only"] is True
    assert ", session 1, that session only, by agent\n" in reply.text


async def test_a_repeated_pin_is_the_first_one_again(tool: Call) -> None:
    first = await tool("pin_decision", text=TEXT, why=WHY)
    again = await tool("pin_decision", text=TEXT, why=WHY)
    assert again.structured["status"] == "repeated"
    assert (again.structured["pointer"], again.structured["receipt"]) == ("P1", first.structured["receipt"])
    with_key = await tool("pin_decision", text="a", why="b", key="k1")
    assert (await tool("pin_decision", text="a", why="b", key="k1")).structured["status"] == "repeated"
    assert with_key.structured["status"] == "pinned"
    with pytest.raises(ConflictError):
        await tool("pin_decision", text="other", why="b", key="k1")


async def test_superseding_is_told_on_both_sides(tool: Call) -> None:
    await tool("pin_decision", text="Use Exa for search", why="it has an index")
    reply = await tool("pin_decision", text="Use Jina for search", why="Exa is too slow", supersedes="P1")
    assert reply.structured["superseded"] == ["P1"]
    old = await tool("fetch_pointer", pointer="P1")
    assert old.structured["replaced_by"] == [{"pointer": "P2", "text": "Use Jina for search"}]
    assert "superseded by P2" in old.text.splitlines()[0]
    new = await tool("fetch_pointer", pointer="P2")
    assert new.structured["replaced"] == [{"pointer": "P1", "text": "Use Exa for search"}]
    with pytest.raises(ConflictError, match="P2"):
        await tool("pin_decision", text="Use Brave", why="free", supersedes=["P1"])


async def test_a_decision_against_a_live_dead_end_is_told_of_it(tool: Call) -> None:
    await tool("pin_decision", text="Caching sessions in memcached", why="evicts under load", kind="dead_end")
    reply = await tool("pin_decision", text="Caching sessions in memcached again", why="it is fast")
    assert reply.structured["dead_ends"] == [{"pointer": "P1", "text": "Caching sessions in memcached"}]
    assert "P1 (a dead end) Caching sessions in memcached" in reply.text
    tried = (await tool("fetch_pointer", pointer="misses")).structured["items"]
    assert [(miss["query"], miss["hits"]) for miss in tried] == [
        ("Caching sessions in memcached again", ["P1"])
    ]
    assert "pointer" not in tried[0]


async def test_pins_over_the_budget_of_the_brief_are_warned_about(tool: Call) -> None:
    for number in range(9):
        reply = await tool("pin_decision", text=f"Rule {number}: " + f"w{number}x " * 150, why="because")
    assert "over the brief's budget" in reply.text
    assert reply.structured["live"]["tokens"] > 2_000


async def test_a_pin_longer_than_its_reply_is_paged_exactly(tool: Call) -> None:
    text, why = "삵궭뛞" * 660, "뷁쀍" * 500
    await tool("pin_decision", text=text, why=why)
    joined, arguments = "", {"pointer": "P1", "max_tokens": 500}
    for _ in range(60):
        reply = await tool("fetch_pointer", **arguments)
        assert count(reply.structured["text"]) <= 500
        joined += reply.structured["text"]
        if "next" not in reply.structured:
            break
        arguments["cursor"] = reply.structured["next"]
    assert joined == f"{text}\nWhy: {why}"


async def test_a_checkpoint_tells_what_changed_and_what_the_brief_now_weighs(tool: Call) -> None:
    first = await tool("checkpoint_state", goal="Ship auth", pending=["write tests", "update docs"])
    assert "\npending: 2 opened, 0 closed, 0 kept\n" in first.text
    assert first.structured["opened"] == ["write tests", "update docs"]
    assert (first.structured["head"], first.structured["branch"]) == ("0123456789abcdef", "main")
    second = await tool(
        "checkpoint_state", goal="Ship auth", done="write tests", pending='["update docs", "release"]'
    )
    assert second.structured["pointer"] == "C2"
    assert second.structured["previous"] == "C1"
    assert (second.structured["opened"], second.structured["closed"], second.structured["kept"]) == (
        ["release"],
        ["write tests"],
        ["update docs"],
    )
    brief = await tool("fetch_pointer", pointer="brief")
    assert second.structured["brief_tokens"] == brief.structured["tokens"]
    fetched = await tool("fetch_pointer", pointer="C2")
    assert fetched.structured["pending"] == ["update docs", "release"]
    assert "Goal: Ship auth\nDone:\n- write tests\nPending:\n- update docs\n- release" in fetched.text


async def test_a_fork_continues_in_a_new_session(tool: Call) -> None:
    first = await tool("checkpoint_state", goal="One", pending=["a"])
    fork = await tool("checkpoint_state", fork_of="C1")
    assert fork.structured["status"] == "forked"
    assert fork.structured["forked_from"] == "C1"
    assert fork.structured["session"] != first.structured["session"]
    with pytest.raises(NotFoundError):
        await tool("checkpoint_state", fork_of="C9")
    with pytest.raises(InvalidInputError):
        await tool("checkpoint_state")


async def test_an_item_that_vanished_without_being_done_is_said_to_be_so(tool: Call) -> None:
    await tool("checkpoint_state", goal="Ship", pending=["a", "b", "c"])
    reply = await tool("checkpoint_state", goal="Ship", done=["a"], pending=["c"])
    assert (reply.structured["closed"], reply.structured["not_done"]) == (["a", "b"], ["b"])
    assert "closed without being done: b" in reply.text
    assert "closed: a" in reply.text


async def test_a_fork_says_what_is_still_pending_and_what_was_closed_since(tool: Call) -> None:
    await tool("checkpoint_state", goal="Ship", pending=["write client", "tests"])
    await tool("checkpoint_state", goal="Ship", done=["tests"])
    fork = await tool("checkpoint_state", fork_of="C1")
    assert (fork.structured["kept"], fork.structured["closed"]) == (["write client"], ["tests"])
    assert "not_done" not in fork.structured
    assert fork.text.startswith("session 2 forked from C1, receipt ")
    brief = await tool("fetch_pointer", pointer="brief")
    assert "Pending: write client" in brief.text
    assert "tests" not in brief.text
    with pytest.raises(NotFoundError, match="the log has"):
        await tool("fetch_pointer", pointer="brief@5000")


async def test_the_brief_says_when_the_repository_has_moved(desk: Desk, tool: Call) -> None:
    await tool("checkpoint_state", goal="Ship auth")
    assert "moved" not in (await tool("fetch_pointer", pointer="brief")).structured
    moved = replace(desk, caller=replace(desk.caller, head="fedcba9876543210", branch="next"))
    reply = await call(moved, "fetch_pointer", {"pointer": "brief"})
    assert reply.structured["moved"] == (
        'The repository has moved since C1: it was at "main" 0123456789ab, it is at "next" fedcba987654.'
    )
    assert reply.structured["moved"] in reply.text


async def test_a_new_session_finds_the_pin_verbatim_in_its_brief(desk: Desk, tool: Call) -> None:
    await tool("pin_decision", text=TEXT, why=WHY)
    other = replace(desk, caller=Caller("codex", "ben"))
    reply = await call(other, "fetch_pointer", {"pointer": "brief"})
    assert TEXT in reply.structured["brief"]
    assert reply.text.startswith(reply.structured["brief"])
    before = await call(other, "fetch_pointer", {"pointer": "brief@1"})
    assert before.structured["seq"] == 1
    small = await call(other, "fetch_pointer", {"pointer": "brief", "max_tokens": 50})
    assert count(small.structured["brief"]) <= 300


async def test_an_entry_comes_with_its_neighbours_and_a_long_one_in_parts(desk: Desk, tool: Call) -> None:
    long = "".join(f"row {number}\n" for number in range(5_000))
    outcome = await desk.store.append_messages(
        desk.caller,
        [Message("user", "run it"), Message("tool_result", long, tool="Bash"), Message("assistant", "done")],
    )
    middle = outcome.last_seq - 1
    first = await tool("fetch_pointer", pointer=f"H{middle - 1}")
    assert (first.structured["text"], first.structured["after"]) == ("run it", f"H{middle}")
    part = await tool("fetch_pointer", pointer=f"H{middle}", lines="4000-4001")
    assert part.structured["text"] == "row 3999\nrow 4000\n"
    match = await tool("fetch_pointer", pointer=f"H{middle}", match="row 4321$", context=0)
    assert match.structured["text"] == "4322: row 4321"
    whole = await tool("fetch_pointer", pointer=f"H{middle}")
    assert whole.structured["left"]["lines"] > 3_000
    with pytest.raises(InvalidInputError, match="not JSON"):
        await tool("fetch_pointer", pointer=f"H{middle}", json_path="$")


async def test_listings_show_everything_newest_first_in_pages(tool: Call) -> None:
    for number in range(1, 121):
        await tool("pin_decision", text=f"Rule number {number} of many {'x' * number}", why="needed")
    found: list[str] = []
    arguments: dict[str, object] = {"pointer": "pins"}
    for _ in range(30):
        reply = await tool("fetch_pointer", **arguments)
        assert len(reply.text) <= 8_000
        assert count(json.dumps(reply.structured, ensure_ascii=False)) < 1_800
        found += [item["pointer"] for item in reply.structured["items"]]
        if "next" not in reply.structured:
            break
        arguments["cursor"] = reply.structured["next"]
    assert found == [f"P{number}" for number in range(120, 0, -1)]


async def test_every_listing_can_be_empty_and_have_one(tool: Call) -> None:
    for listing in ("pins", "artifacts", "checkpoints", "folds"):
        assert (await tool("fetch_pointer", pointer=listing)).text.startswith(f"No {listing} yet.")
    await tool("pin_decision", text="a decision", why="b")
    await tool("spill_artifact", content="text", label="what it is")
    await tool("checkpoint_state", goal="g", pending=["p"])
    assert (await tool("fetch_pointer", pointer="artifacts")).structured["items"][0]["label"] == "what it is"
    assert (await tool("fetch_pointer", pointer="checkpoints")).structured["items"][0]["goal"] == "g"
    assert "A1" in (await tool("fetch_pointer", pointer="artifacts")).text


async def test_no_reply_repeats_a_long_text_within_itself(tool: Call) -> None:
    long = "a rather long and unmistakable sentence about the thing " * 20
    await tool("pin_decision", text=long.strip(), why="b")
    await tool("spill_artifact", content=long)
    for pointer in ("P1", "A1"):
        structured = (await tool("fetch_pointer", pointer=pointer)).structured
        assert json.dumps(structured).count("unmistakable") == 20


async def test_a_checkpoint_of_many_items_gives_a_short_reply_and_keeps_them_all(tool: Call) -> None:
    items = [f"item {number} " + "x" * 900 for number in range(200)]
    reply = await tool("checkpoint_state", goal="g", pending=items)
    assert len(reply.text) < 8_000
    assert len(json.dumps(reply.structured)) < 8_000
    assert reply.structured["counts"] == {"opened": 200, "closed": 0, "kept": 0}
    assert "200 opened" in reply.text
    last = await tool("fetch_pointer", pointer="C1", match="item 199 ")
    assert items[199][:150] in last.structured["text"]
