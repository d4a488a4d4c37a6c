"""Clocks that jump by ten years, stand still or show an hour twice: they order, lose and double nothing (P8)."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from pinfold.server.settings import read_settings
from pinfold.store.commands import PinDecision, RecordFold, StartSession
from pinfold.store.errors import InvalidInputError
from pinfold.store.forgetting import Forget
from pinfold.store.sqlite.store import SqliteStore, open_store
from pinfold.store.values import Caller
from tests.contract.acts import ANNA, BEN, checkpoint, find, pin, say, spill
from tests.faults.clocks import DECADE, NOON, SUMMER_ENDS, Clock, clock
from tests.faults.lines import Server
from tests.faults.sites import CLOCK, planted
from tests.server.hooking import Client

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)
JUMPS = (NOON, NOON, NOON + DECADE, NOON - DECADE, NOON, NOON - HOUR, SUMMER_ENDS, SUMMER_ENDS - HOUR, NOON)
YEARS_S = DECADE.total_seconds()


@pytest.fixture
def shown() -> Iterator[Clock]:
    with clock() as made:
        yield made


def _stamps(folder: Path) -> list[str]:
    """When each event says it was written, in the log's order, read past the store."""
    with closing(sqlite3.connect(folder / "log.db")) as link:
        return [row[0] for row in link.execute("SELECT at FROM event ORDER BY seq")]


async def _fill(store: SqliteStore, shown: Clock) -> list[int]:
    """Write one of each kind at each jump of the clock; return the seqs of what was acknowledged, in that order."""
    acknowledged: list[int] = []
    for n, shown.shows in enumerate(JUMPS):
        pinned = await pin(store, f"pin {n} of jumps", key=f"pin {n}")
        spilled = await spill(store, b"line\n" * n, label=f"artifact {n} of jumps")
        said = await say(store, f"message {n} of jumps")
        saved = await checkpoint(store, goal=f"goal {n} of jumps")
        acknowledged += [pinned.receipt.seq, spilled.receipt.seq, int(said[0][1:]), saved.receipt.seq]
        await store.record_fold(RecordFold(ANNA, f"fold {n}", "auto"))
    return acknowledged


async def test_the_log_and_its_listings_are_in_the_order_of_the_writes(home: Path, shown: Clock) -> None:
    store = await open_store(home, "demo")
    acknowledged = await _fill(store, shown)
    stamps = _stamps(home)
    assert stamps != sorted(stamps)
    assert len(set(stamps)) < len(stamps)
    assert acknowledged == sorted(acknowledged)
    newest_first = list(range(len(JUMPS), 0, -1))
    assert [each.number for each in await store.pins(None, 99)] == newest_first
    assert [each.number for each in await store.artifacts(None, 99)] == newest_first
    assert [each.number for each in await store.checkpoints(None, 99)] == newest_first
    assert [each.number for each in await store.folds(None, 99)] == newest_first
    brief = await store.brief_state(ANNA)
    assert [each.number for each in brief.pins] == newest_first[::-1]
    assert brief.checkpoint is not None
    assert brief.checkpoint.goal == f"goal {len(JUMPS) - 1} of jumps"
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_retry_is_a_repeat_whatever_the_clock_shows_by_then(home: Path, shown: Clock) -> None:
    store = await open_store(home, "demo")
    first = await pin(store, "use Redis", key="k")
    alike = await pin(store, "use Valkey")
    bytes_ = await spill(store, b"built\n", label="build")
    for shown.shows in JUMPS:
        assert (await pin(store, "use Redis", key="k")).receipt == first.receipt
        assert (await pin(store, "use Valkey", BEN)).receipt == alike.receipt
        assert (await spill(store, b"built\n", label="build")).receipt == bytes_.receipt
    await pin(store, "use Postgres", supersedes=(1,))
    assert [each.superseded_by for each in await store.pins(None, 9)] == [None, None, 3]
    await store.close()


async def test_pages_show_each_hit_once_though_the_clock_jumps_between_them(home: Path, shown: Clock) -> None:
    store = await open_store(home, "demo")
    await _fill(store, shown)
    found: list[str] = []
    cursor = None
    for n in range(99):
        shown.shows = JUMPS[n % len(JUMPS)]
        page = await find(store, "jumps", limit=5, cursor=cursor)
        await pin(store, f"one more of jumps, {n}")
        found += [hit.pointer for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 4 * len(JUMPS)
    numbered = {f"{letter}{number}" for letter in "PAC" for number in range(1, len(JUMPS) + 1)}
    assert {each for each in found if each[0] != "H"} == numbered
    await store.close()


async def test_a_time_filter_goes_by_what_the_clock_showed(home: Path, shown: Clock) -> None:
    store = await open_store(home, "demo")
    for n, shown.shows in enumerate((NOON, NOON + DECADE, NOON - DECADE)):
        await pin(store, f"decision {n}")
    since = (NOON + HOUR).isoformat(timespec="microseconds")
    assert [hit.pointer for hit in (await find(store, "decision", since=since)).hits] == ["P2"]
    plan = await store.forget_plan(Forget(ANNA, before=(NOON - HOUR).isoformat()))
    assert [each.pointer for each in plan.doomed] == ["P3"]
    await store.close()


@pytest.mark.parametrize("before", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-10:00"])
async def test_an_instant_at_the_end_of_time_is_refused_by_name(home: Path, before: str) -> None:
    store = await open_store(home, "demo")
    try:
        with pytest.raises(InvalidInputError, match="is no date"):
            await store.forget_plan(Forget(ANNA, before=before))
    finally:
        await store.close()


async def test_whom_a_hook_met_last_is_known_though_the_clock_was_set_back(home: Path, shown: Clock) -> None:
    store = await open_store(home, "demo")
    shown.shows = NOON + DECADE
    for run in range(210):
        await store.start_session(StartSession(BEN, run=f"future {run}", model="model of the future"))
    shown.shows = NOON
    for run in range(3):
        told = Caller("codex", f"conversation {run}")
        await store.start_session(StartSession(told, run=f"now {run}", model=f"model {run}"))
    for run in range(3):
        server = Caller("codex", "unknown", runs=(f"now {run}",))
        made = await pin(store, f"pin {run}", server)
        assert made.pin.session == (await store.brief_state(Caller("codex", f"conversation {run}"))).session
    assert (await store.status()).model == "model 2"
    with closing(sqlite3.connect(home / "log.db")) as link:
        runs = [row[0] for row in link.execute("SELECT run FROM client_run")]
    assert len(runs) <= 201
    assert "future 0" not in runs
    await store.close()


def test_what_a_user_says_again_is_pinned_again_though_the_clock_was_set_back(
    tmp_path: Path, shown: Clock
) -> None:
    client = Client(tmp_path, piped=False)
    assert client.hook("user-prompt-submit", prompt="FACT: the port is 4317") == (
        "pinfold: pinned from the prompt: P1\n"
    )
    shown.shows = NOON + DECADE
    with closing(client.direct()) as store:
        store.pin_decision(PinDecision(client.caller, "the port is 4318", "it moved", supersedes=(1,)))
    shown.shows = NOON
    assert client.hook("user-prompt-submit", prompt="FACT: the port is 4317") == (
        "pinfold: pinned from the prompt: P3\n"
    )


def test_servers_whose_clocks_jump_write_and_read_one_log(home: Path, project: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    draw = random.Random(seed)
    clocks = [home.parent / f"clock {n}" for n in range(2)]
    for each in clocks:
        each.write_text("0")
    site = planted(home.parent / "site", CLOCK)
    one, two = (
        Server(home, project, f"s{n}", site | {"CLOCK_IS_OFF_BY": str(each)}) for n, each in enumerate(clocks)
    )
    receipts: list[str] = []
    with one, two:
        assert one.shake_hands()
        assert two.shake_hands()
        for n in range(16):
            for each in clocks:
                each.write_text(str(draw.choice([-YEARS_S, -3_600, 0, 3_600, YEARS_S])))
            writer, reader = draw.sample([one, two], 2)
            call = {"text": f"decision {n}", "why": "measured", "key": f"k{n}"}
            receipts.append(str(writer.call("pin_decision", **call).facts["receipt"]))
            assert reader.call("pin_decision", **call).facts["receipt"] == receipts[-1]
            assert f"decision {n}" in reader.call("fetch_pointer", pointer="brief").text
        assert one.call("pin_decision", text="decision 16", why="measured", supersedes=["P1"]).failed is False
        assert two.call("search_history", query="decision 16", since="1h").failed is False
        assert (one.leave(), two.leave()) == (0, 0)
    seqs = [int(receipt.partition(":")[0]) for receipt in receipts]
    assert seqs == sorted(seqs)
    stamps = _stamps(read_settings({"PINFOLD_HOME": str(home)}, project).store_folder)
    years = {stamp[:4] for stamp in stamps}
    print(f"seed {seed}: {len(receipts)} acknowledged, 0 lost, in the years {sorted(years)}")
    assert stamps != sorted(stamps)
    assert len(years) > 1
