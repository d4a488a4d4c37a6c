"""A disk that takes its time slows writes and nothing else: reads answer, order holds, the process ends. P14, P18."""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.inside.faults import SYNC_BEGINS, SYNC_ENDS, Faults
from tests.faults.lines import Answer, Facts, Server, answer_of

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("file_layer")]

PROMISED_S = 0.1
WORST_END_S = 5.0
PATIENCE_S = 20.0


FETCH = {"name": "fetch_pointer", "arguments": {"pointer": "P1"}}


class SlowServer(Server):
    """A server that has one pin, and whose syncs take longer since then and are counted in its own process."""

    def __init__(self, home: Path, project: Path, sync_s: float) -> None:
        self._passed, slow = home.with_name("passed"), home.with_name("slow")
        faults = Faults(sync_s=sync_s, passed=str(self._passed), while_there=str(slow))
        super().__init__(home, project, "slow", faults.environment())
        assert self.shake_hands(), self.notes()
        assert not self.call("pin_decision", text="the first", why="it opens the store").failed
        slow.touch()

    def syncs(self) -> tuple[int, int]:
        """How many syncs have begun, and how many have ended."""
        passed = self._passed.read_text().splitlines()
        return passed.count(SYNC_BEGINS), passed.count(SYNC_ENDS)

    def write(self, number: int) -> int:
        """Ask for a pin and return the id of the request."""
        request = self._request("tools/call", {"name": "pin_decision", "arguments": _pin(number)})
        assert self._send([request])
        return int(request["id"])

    def ask(self, method: str, params: Facts, *waiting: int) -> tuple[float, list[Answer]]:
        """Ask for something quick; return how long it took, and the answers to the waiting that came before."""
        request = self._request(method, params)
        begun = time.monotonic()
        assert self._send([request])
        earlier: list[Answer] = []
        while message := self._message(request["id"], *waiting):
            if message["id"] == request["id"]:
                return time.monotonic() - begun, earlier
            earlier.append(answer_of(message))
        raise AssertionError(self.notes())


def _pin(number: int) -> Facts:
    return {"text": f"decision {number}", "why": "measured", "key": f"k{number}"}


def _figures(what: str, taken: list[float]) -> str:
    return f"{what}: {statistics.median(taken) * 1000:.1f} ms, at most {max(taken) * 1000:.1f} ms"


@pytest.mark.parametrize(
    ("sync_s", "writes"),
    [
        (0.4, 2),
        pytest.param(0.2, 10, marks=pytest.mark.full),
        pytest.param(1.0, 11, marks=pytest.mark.full),
    ],
)
def test_reads_are_answered_while_writes_wait_for_a_slow_disk(
    home: Path, project: Path, sync_s: float, writes: int
) -> None:
    """Eleven syncs of a second are longer than any wait in the store may last."""
    answers: list[Answer] = []
    pings: list[float] = []
    fetches: list[float] = []
    with SlowServer(home, project, sync_s) as server:
        quiet = [server.ask("ping", {})[0] for _ in range(20)]
        begun = time.monotonic()
        waiting = [server.write(number) for number in range(writes)]
        while len(answers) < writes:
            for method, params, taken in (("ping", {}, pings), ("tools/call", FETCH, fetches)):
                taken_s, earlier = server.ask(method, params, *waiting)
                taken.append(taken_s)
                answers += earlier
        lasted_s = time.monotonic() - begun
        assert server.leave() == 0
    print(f"{writes} syncs of {sync_s} s lasted {lasted_s:.1f} s; {len(pings)} times meanwhile")
    print(_figures("ping", pings), _figures("fetch", fetches), _figures("ping before", quiet), sep="; ")
    assert lasted_s >= writes * sync_s
    seqs = [int(str(answer.facts["receipt"]).partition(":")[0]) for answer in answers]
    assert seqs == sorted(seqs)
    assert max(statistics.median(pings), statistics.median(fetches)) < PROMISED_S
    assert max(*pings, *fetches) < sync_s


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.full
@pytest.mark.parametrize("end", ["end of input", "SIGTERM"])
def test_a_server_ends_in_the_midst_of_a_slow_sync(home: Path, project: Path, end: str) -> None:
    with SlowServer(home, project, 6.0) as server:
        server.write(1)
        _until(lambda: server.syncs() == (1, 0))
        begun = time.monotonic()
        if end == "SIGTERM":
            server.process.send_signal(signal.SIGTERM)
            code = server.process.wait(PATIENCE_S)
        else:
            code = server.leave()
        taken_s = time.monotonic() - begun
        begins, ends = server.syncs()
    print(f"{end}: ended after {taken_s:.2f} s with {code}, a sync of 6 s under way")
    assert (begins, ends) == (1, 0)
    assert taken_s < WORST_END_S
    with Server(home, project, "next") as successor:
        assert successor.shake_hands()
        receipts = {successor.call("pin_decision", **_pin(1)).facts["receipt"] for _ in range(2)}
        assert len(receipts) == 1
        assert "the first" in successor.call("fetch_pointer", pointer="P1").text
        assert successor.leave() == 0
