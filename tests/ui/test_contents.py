"""What each page tells, over a real store."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.server.ui import routes
from pinfold.server.ui.looking import Look, Page
from pinfold.store.commands import CheckpointState, CommitProjection, Message, StartSession
from pinfold.store.values import Stale
from tests.contract.acts import BEN, checkpoint, find, pin, say
from tests.server.person import ANNA, Project, with_a_past
from tests.ui.looking import Looking, Seen, looking

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return with_a_past(tmp_path_factory.mktemp("ui") / "demo")


@pytest.fixture
async def look(past: Project) -> AsyncIterator[Looking]:
    async with looking(past) as somebody:
        yield somebody


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[Looking]:
    async with looking(Project(tmp_path / "demo")) as somebody:
        yield somebody


async def test_an_empty_project_has_all_its_pages(fresh: Looking) -> None:
    for name in routes.NAMED:
        await fresh.at(name)
    assert "No pins yet." in (await fresh.at("pins")).text
    assert "No folds yet" in (await fresh.at("folds")).text


async def test_pins_are_listed_with_what_superseded_them(look: Looking) -> None:
    seen = await look.at("pins")
    assert [row[:3] for row in seen.rows[1:]] == [
        ["P4", "decision", "Use Postgres 17"],
        ["P3", "decision", "Superseded by P4 Use Postgres 16"],
        ["P2", "constraint", "数据库最多 8 个连接 🎉\\x1b[31mred\\x1b[0m and a tab second line"],
        ["P1", "decision", "Refresh tokens live in `redis-main` for 15 minutes."],
    ]
    assert {"P1", "P4", "s1"} <= set(seen.links)


async def test_a_pin_shows_its_history_and_what_each_fold_left_of_it(look: Looking) -> None:
    seen = await look.at("P3")
    history = [" ".join(item.split()) for item in seen.items[-2:]]
    assert [item.split()[0] for item in history] == ["P3", "P4"]
    assert history[0].endswith("superseded by P4 Use Postgres 16")
    assert history[1].endswith("stands Use Postgres 17")
    assert [row[0:1] + row[2:] for row in (await look.at("P1")).rows[1:]] == [["F1", "1 of 2", "redis-main"]]


async def test_a_fold_shows_what_it_lost_and_whether_the_brief_gives_it_back(look: Looking) -> None:
    seen = await look.at("F1")
    assert [(row[0], row[1], row[3]) for row in seen.rows[1:]] == [
        ("P1", "redis-main", "gives all back"),
        ("P2", "8 个", "gives all back"),
        ("P3", "Postgres 16", "superseded by P4"),
    ]
    assert "Why: the mobile client cannot persist them" in seen.rows[1][2]
    assert "164,000 tokens before" in seen.text
    assert "1 of 4 pinned specifics kept by the summary" in seen.text
    assert "H9 Never use port 3000, because of the proxy." in seen.text
    assert {"P1", "P2", "P3", "P4", "H9", "A4", "s1"} <= set(seen.links)


async def test_folds_are_drawn_from_the_figures_that_stand_beside(look: Looking) -> None:
    seen = await look.at("folds")
    assert ["F1", "164,000", "12,000"] in seen.rows
    assert ["F1", "1", "3"] in seen.rows
    assert '"values": [164000]' in seen.html
    assert seen.rows[-1][3:] == [
        "auto",
        "164,000",
        "12,000",
        "93%",
        "1 of 4",
        "P1 redis-main ; P2 8 个 ; P3 Postgres 16",
    ]


async def test_the_first_page_says_what_the_brief_costs_and_what_is_new(look: Looking) -> None:
    seen = await look.at("")
    assert "3 pins that stand" in seen.text
    assert "1 fold " in seen.text
    assert "2 decisions" in seen.text
    assert "1 constraint" in seen.text
    assert "left for history" in seen.text
    assert {"P4", "C1", "A3", "s1", "F1", "brief"} <= set(seen.links)


async def test_a_long_artifact_is_shown_by_parts_and_says_so(look: Looking) -> None:
    first = await look.at("A1")
    assert first.items[-200:] == [f"row {number} of the log" for number in range(1, 201)]
    assert "after this are not shown here." in first.text
    there = await look.at("A1?line=401")
    assert there.items[-200] == "row 401 of the log"
    assert "A1?line=201" in there.links
    last = await look.at("A1?line=19999")
    assert last.items[-2:] == ["row 19999 of the log", "row 20000 of the log"]
    assert "after this" not in last.text
    assert "A1, line 20001: it has 20,000 lines." in (await look.at("A1?line=20001", 404)).text


async def test_bytes_that_are_no_text_are_shown_as_digits(look: Looking) -> None:
    seen = await look.at("A2")
    assert "00000010 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f" in seen.text
    assert "A2?byte=1024" in seen.links
    assert "Bytes 10,224 to 10,239 of 10,240." in (await look.at("A2?byte=99999")).text


async def test_two_checkpoints_are_shown_beside_each_other(fresh: Looking) -> None:
    await checkpoint(fresh.store, goal="ship", pending=("tests", "docs"), next_step="test")
    await fresh.store.checkpoint_state(
        CheckpointState(ANNA, goal="ship", done=("tests",), pending=("docs", "release"), next_step="test")
    )
    seen = await fresh.at("C2")
    assert "What changed since C1" in seen.text
    assert _state(seen) == ["ship", "test", "docs", "New: release", "Gone: tests", "New: tests"]
    back = await fresh.at("C1?against=C2")
    assert _state(back) == ["ship", "test", "docs", "New: tests", "Gone: release", "Gone: tests"]
    assert "Only checkpoints can be compared." in (await fresh.at("C1?against=P1", 400)).text


def _state(seen: Seen) -> list[str]:
    return [" ".join(item.split()) for item in seen.items[-6:]]


async def test_sessions_and_forks_are_drawn_and_listed(fresh: Looking) -> None:
    await checkpoint(fresh.store, goal="first way")
    await checkpoint(fresh.store, fork_of=1)
    seen = await fresh.at("sessions")
    assert [(row[0], row[5], row[8]) for row in seen.rows[1:]] == [("s2", "1", "C1 of s1"), ("s1", "2", "")]
    assert "s2 from C1 · 1" in seen.text
    assert {"s1", "s2", "C1"} <= set(seen.links)
    fork = await fresh.at("s2")
    assert "forked from C1 of s1" in fork.text
    assert fork.rows[-1][1:3] == ["fork began", "claude-code, from C1"]


async def test_what_a_harness_decided_of_its_requests_and_where_it_forked_is_told(fresh: Looking) -> None:
    await say(fresh.store, "one", "two")
    await fresh.store.commit_projection(CommitProjection(ANNA, hidden=(2,), reclaimed={3: Stale.OLD}))
    await fresh.store.start_session(StartSession(BEN, fork_at=3))
    assert (await fresh.at("s1")).rows[-1][1:3] == ["request", "1 message left out, 1 shown as one line"]
    fork = await fresh.at("s2")
    assert "forked from event 3 of s1" in fork.text
    assert "s1?after=2" in fork.links
    assert fork.rows[-1][1:3] == ["fork began", "codex, from event 3"]
    assert "s2 from 3 · 1" in (await fresh.at("sessions")).text


BROKEN = [
    "{",
    "[]",
    "null",
    "7",
    "{}",
    '{"role":5,"text":7,"tokens":"many"}',
    '{"role":"user","text":"forged"}',
]


@pytest.mark.parametrize("body", BROKEN)
async def test_an_event_that_is_damaged_hides_no_other(fresh: Looking, tmp_path: Path, body: str) -> None:
    await say(fresh.store, "before", "broken", "after")
    _damage(tmp_path, body)
    rows = (await fresh.at("s1")).rows
    assert [row[1:3] for row in rows[-3:]] == [
        ["user", "before"],
        ["damaged", "pinfold verify tells more."],
        ["user", "after"],
    ]


@pytest.mark.parametrize("body", ["{", "[]", "7", "{}"])
async def test_a_search_that_meets_a_damaged_event_says_that_it_is_damaged(
    fresh: Looking, tmp_path: Path, body: str
) -> None:
    await say(fresh.store, "before", "broken", "after")
    _damage(tmp_path, body)
    assert "is damaged; nothing was changed." in (await fresh.at("search?query=broken", 500)).text


def _damage(folder: Path, body: str) -> None:
    with closing(sqlite3.connect(next(folder.rglob("log.db")))) as db, db:
        assert db.execute("UPDATE event SET body = ? WHERE seq = 3", (body,)).rowcount == 1


async def test_a_session_is_read_from_its_beginning_to_its_end_each_event_once(fresh: Looking) -> None:
    await say(fresh.store, *(f"message {number}" for number in range(120)))
    page, told = "s1", list[str]()
    while page:
        seen = await fresh.at(page)
        told += [row[2] for row in seen.rows if len(row) == 5 and row[2].startswith("message ")]
        page = next(
            (link for link in seen.links if "after=" in link and f'"{link}" rel="next"' in seen.html), ""
        )
    assert told == [f"message {number}" for number in range(120)]


async def test_listings_go_on_page_by_page_and_show_each_thing_once(fresh: Looking) -> None:
    for number in range(1, 108):
        await pin(fresh.store, f"decision {number}")
    page, told = "pins", list[str]()
    while page:
        seen = await fresh.at(page)
        told += [row[0] for row in seen.rows[1:]]
        page = next((link for link in seen.links if link.startswith("pins?before=")), "")
    assert told == [f"P{number}" for number in range(107, 0, -1)]


async def test_an_entry_leads_to_its_neighbours_and_its_artifacts(fresh: Looking) -> None:
    one, two, three = await say(fresh.store, "before", "said\nA12\nA4 paper", "after")
    seen = await fresh.at(two)
    assert {one, three, "A12", "s1"} <= set(seen.links)
    assert "A4" not in seen.links
    assert "said A12 A4 paper" in seen.text


async def test_a_search_finds_as_the_tool_does_and_leaves_no_record(fresh: Looking) -> None:
    await say(fresh.store, "the pool is capped at 8", "<b>pool</b> again")
    end = await fresh.store.log_end()
    seen = await fresh.at("search?query=capped+pool")
    assert "2 found: 1 by all words, 1 by most words; the best holds 100% of the words." in seen.text
    assert "<mark>pool</mark> is <mark>capped</mark> at 8" in seen.html
    assert "H2" in seen.links
    assert "nothing found" in (await fresh.at("search?query=kubernetes")).text
    assert "<mark>pool</mark>&lt;/b&gt;" in (await fresh.at("search?query=pool&kinds=messages")).html
    assert (await fresh.store.log_end(), await fresh.store.misses(None, 5)) == (end, ())
    assert {"S1", "s1"} <= {
        *(await fresh.at("search?query=S1")).links,
        *(await fresh.at("search?query=s1")).links,
    }
    assert "There is no session 7." in (await fresh.at("search?query=pool&session=s7", 400)).text
    assert (
        "no letter and no digit. Search for at least one word"
        in (await fresh.at("search?query=%3F%3F", 400)).text
    )


async def test_a_miss_shows_what_was_asked_and_what_answered(fresh: Looking) -> None:
    await say(fresh.store, "Staging listens on 8443.")
    await find(fresh.store, "which door")
    seen = await fresh.at("misses")
    assert seen.rows[1][:4] == ["S1", "which door", "nothing found", ""]
    assert "yes: nothing found" in (await fresh.at("S1")).text


async def test_what_leads_nowhere_says_so(look: Looking) -> None:
    assert "P99: there is no such pin in this project." in (await look.at("P99", 404)).text
    assert "s9: there is no such session." in (await look.at("s9", 404)).text
    assert "there is no such page" in (await look.at("elsewhere", 404)).text
    assert "is no number" in (await look.at("pins?before=x", 400)).text


async def test_a_bug_ends_neither_the_server_nor_tells_what_it_was_about(
    past: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def broken(look: Look) -> Page:
        raise RuntimeError((await look.store.pin(1)).pin.text)

    monkeypatch.setitem(routes.NAMED, "pins", broken)
    async with looking(past) as somebody:
        seen = await somebody.at("pins", 500)
        assert "failed inside pinfold" in seen.text
        assert (await somebody.at("P1")).rows
    said = capfd.readouterr().err
    assert "a page failed with RuntimeError" in said
    assert "redis-main" not in said + seen.html


async def test_all_parts_of_a_page_are_of_one_moment(fresh: Looking) -> None:
    writes = 0

    async def written_into(look: Look) -> Page:
        nonlocal writes
        before = (await look.store.status()).events
        if writes < most:
            writes += 1
            await fresh.store.append_messages(ANNA, [Message("user", f"meanwhile {writes}")])
        return Page("error.html", "", {"said": f"{before} {(await look.store.status()).events}"})

    most = 1
    page, seq = await routes.settled(Look(fresh.store, 0, {}), written_into)
    assert (page.facts["said"], seq) == ("2 2", 2)
    most = 99
    page, seq = await routes.settled(Look(fresh.store, 0, {}), written_into)
    assert seq is None
