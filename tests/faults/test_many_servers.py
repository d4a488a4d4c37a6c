"""Many servers on one store, and many calls on one server: all are served, and the log has no gap."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import anyio
import pytest

from pinfold.server.settings import read_settings
from pinfold.store.results import StoreStatus, VerifyReport
from pinfold.store.sqlite.store import open_store
from tests.faults.lines import Answer, Call, Server

SERVERS = 16
WRITING = ("pin_decision", "spill_artifact", "checkpoint_state")


def _mixed(name: str, calls: int) -> list[Call]:
    """Pins, spills, searches, fetches and checkpoints, each of its own content."""
    made: list[Call] = []
    for n in range(calls):
        text = f"{name} step {n}"
        made.append(
            [
                Call("pin_decision", {"text": f"decision of {text}", "why": "measured"}),
                Call("spill_artifact", {"content": f"{text}\n" * 500, "label": text}),
                Call("search_history", {"query": "decision of step"}),
                Call("fetch_pointer", {"pointer": "brief"}),
                Call("checkpoint_state", {"goal": text, "pending": [text]}),
            ][n % 5]
        )
    return made


class _Client(threading.Thread):
    """One client of a server that starts together with all others: it makes its calls in order and leaves."""

    def __init__(self, server: Server, calls: list[Call]) -> None:
        super().__init__()
        self.server = server
        self.calls = calls
        self.answers: list[Answer | None] = []
        self.slowest_s = 0.0
        self.code: int | None = None

    def run(self) -> None:
        if not self.server.shake_hands():
            return
        for call in self.calls:
            begun = time.monotonic()
            self.answers += self.server.together([call])
            self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
        self.code = self.server.leave()


async def _look(folder: Path) -> tuple[StoreStatus, VerifyReport]:
    store = await open_store(folder, "shop")
    try:
        return await store.status(), await store.verify()
    finally:
        await store.close()


def _folder(home: Path, project: Path) -> Path:
    return read_settings({"PINFOLD_HOME": str(home)}, project).store_folder


@pytest.mark.timeout(300)
@pytest.mark.parametrize("calls", [8, pytest.param(50, marks=pytest.mark.full)])
def test_servers_started_at_once_on_a_new_store_are_all_served(home: Path, project: Path, calls: int) -> None:
    begun = time.monotonic()
    clients = [_Client(Server(home, project, f"s{n}"), _mixed(f"server {n}", calls)) for n in range(SERVERS)]
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
    print(f"{SERVERS} servers, {SERVERS * calls} calls in {took:.1f} s, slowest call {slowest:.2f} s")
    _check_answers(clients, calls)
    status, report = anyio.run(_look, _folder(home, project))
    expected = [sum(call.tool == tool for call in _mixed("", calls)) * SERVERS for tool in WRITING]
    assert [status.live_pins, status.artifacts, status.checkpoints] == expected
    assert report.problems == ()


def _check_answers(clients: list[_Client], calls: int) -> None:
    answers = [answer for client in clients for answer in client.answers]
    assert [answer for answer in answers if answer is None or answer.failed] == []
    assert len(answers) == SERVERS * calls
    assert {client.code for client in clients} == {0}
    assert [client.server.notes() for client in clients if "locked" in client.server.notes()] == []
    receipts = [answer.facts["receipt"] for answer in answers if answer and "receipt" in answer.facts]
    assert len(receipts) == len(set(receipts))
    for client in clients:
        own = [
            int(str(a.facts["receipt"]).partition(":")[0])
            for a in client.answers
            if a and "receipt" in a.facts
        ]
        assert own == sorted(own)


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
    status, report = anyio.run(_look, _folder(home, project))
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
