"""Many servers on one store, and many calls on one server: all are served, and the log has no gap."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from pinfold.store.results import StoreStatus, VerifyReport
from pinfold.store.sqlite.store import open_store
from tests.faults.history import Diary, Outcome
from tests.faults.lines import Call, Server
from tests.faults.noting import ask, check, folder_of, look, pinning, saving, spilling

SERVERS = 16
Act = Callable[[Server, Diary], None]


def _write(call: Call) -> Act:
    def act(server: Server, diary: Diary) -> None:
        answer = ask(server, diary, [call])[0]
        assert answer is not None, server.notes()
        assert not answer.failed, answer.text

    return act


def _search(server: Server, _: Diary) -> None:
    assert not server.call("search_history", query="decision of step").failed


def _mixed(name: str, calls: int) -> list[Act]:
    """Pins, spills, searches, looks at all pins and checkpoints."""
    made: list[Act] = []
    for n in range(calls):
        key = f"{name} step {n}"
        acts = [_write(pinning(key)), _write(spilling(key, 500)), _search, look, _write(saving(key))]
        made.append(acts[n % len(acts)])
    return made


class _Client(threading.Thread):
    """One client of a server that starts together with all others: it does its acts in order and leaves."""

    def __init__(self, server: Server, diary: Diary, acts: list[Act]) -> None:
        super().__init__()
        self.server = server
        self.diary = diary
        self.acts = acts
        self.slowest_s = 0.0
        self.code: int | None = None

    def run(self) -> None:
        assert self.server.shake_hands()
        for act in self.acts:
            begun = time.monotonic()
            act(self.server, self.diary)
            self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
        self.code = self.server.leave()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("calls", [8, pytest.param(50, marks=pytest.mark.full)])
def test_servers_started_at_once_on_a_new_store_are_all_served(home: Path, project: Path, calls: int) -> None:
    begun = time.monotonic()
    clients = [
        _Client(Server(home, project, f"s{n}"), Diary(f"s{n}"), _mixed(f"s{n}", calls))
        for n in range(SERVERS)
    ]
    try:
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    finally:
        for client in clients:
            client.server.__exit__(None, None, None)
    took = time.monotonic() - begun
    slowest = max(client.slowest_s for client in clients)
    figures = check(folder_of(home, project), [client.diary for client in clients])
    print(f"{SERVERS} servers, {SERVERS * calls} calls in {took:.1f} s, slowest {slowest:.2f} s: {figures}")
    assert {client.code for client in clients} == {0}
    assert [client.server.notes() for client in clients if "locked" in client.server.notes()] == []
    writes = [write for client in clients for write in client.diary.writes]
    assert {write.outcome for write in writes} == {Outcome.OK}
    assert len(writes) == SERVERS * sum(n % 5 in (0, 1, 4) for n in range(calls))


async def _look(folder: Path) -> tuple[StoreStatus, VerifyReport]:
    store = await open_store(folder, "shop")
    try:
        return await store.status(), await store.verify()
    finally:
        await store.close()


def test_calls_sent_to_one_server_in_one_breath_are_each_done_once(home: Path, project: Path) -> None:
    calls = [
        Call("pin_decision", {"text": "use Redis for sessions", "why": "measured"}),
        Call("pin_decision", {"text": "keep logs for 30 days", "why": "asked for"}),
        Call("spill_artifact", {"content": "one\ntwo\n" * 5_000, "label": "build"}),
        Call("checkpoint_state", {"goal": "ship it", "pending": ["write the changelog"]}),
    ]
    with Server(home, project, "one") as server:
        assert server.shake_hands()
        for round_number in range(2):
            answers = [answer for answer in server.together(calls) if answer is not None]
            assert [answer.text for answer in answers if answer.failed] == []
            receipts = [str(answer.facts["receipt"]) for answer in answers]
            assert len(set(receipts)) == len(calls)
            if round_number == 0:
                first = receipts
        assert receipts == first
        assert server.leave() == 0
    status, report = anyio.run(_look, folder_of(home, project))
    assert (status.live_pins, status.artifacts, status.checkpoints) == (2, 1, 1)
    assert report.problems == ()


def test_what_one_server_acknowledged_another_reads_at_once(home: Path, project: Path) -> None:
    draw = random.Random(3)
    with Server(home, project, "a") as one, Server(home, project, "b") as two:
        assert one.shake_hands()
        assert two.shake_hands()
        for n in range(10):
            writer, reader = draw.sample([one, two], 2)
            text = f"the port is {4_000 + n}"
            made = writer.call("pin_decision", text=text, why="the table of ports")
            assert text in reader.call("fetch_pointer", pointer=made.facts["pointer"]).text
        one.process.kill()  # however one ends, the other goes on
        assert not two.call("pin_decision", text="still here", why="alone").failed
