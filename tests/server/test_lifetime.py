"""The process ends, whatever it is doing and however it is told to. Source: P18, L1."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.server.peer import PATIENCE_S, TOY, Peer, call, environment, running, text_of, toy

PROMISED_S = 2.0
WORST_S = 5.0

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="signals, FIFOs and parent processes of POSIX"
)


def _idle(peer: Peer) -> None:
    assert text_of(peer.ask(call(1, "echo", text="x"))) == "x"


def _sleeping(where: str) -> Callable[[Peer], None]:
    def sleep(peer: Peer) -> None:
        peer.send(call(1, "sleep", s=30, where=where))
        peer.wait_for_note(b"sleeping")

    return sleep


def _unread_reply(peer: Peer) -> None:
    peer.send(call(1, "misbehave", how="big"))
    assert select.select([peer.stdout], [], [], PATIENCE_S)[0]


def _starting(peer: Peer) -> None:
    peer.wait_for_note(b"starting")


STATES: dict[str, Callable[[Peer], None]] = {
    "idle": _idle,
    "tool running": _sleeping("task"),
    "worker thread blocked": _sleeping("thread"),
    "event loop blocked": _sleeping("loop"),
    "reply unread": _unread_reply,
    "still starting": _starting,
}


def _end_of_input(peer: Peer) -> None:
    peer.stdin.close()


def _signal(number: signal.Signals) -> Callable[[Peer], None]:
    return lambda peer: peer.server.send_signal(number)


def _output_closed(peer: Peer) -> None:
    peer.stdout.close()


def _parent_killed_pipes_held(peer: Peer) -> None:
    peer.server.kill()


def _client_killed(peer: Peer) -> None:
    peer.server.kill()
    peer.stdin.close()
    _output_closed(peer)


ENDINGS: dict[str, tuple[Callable[[Peer], None], int]] = {
    "end of input": (_end_of_input, 0),
    "SIGTERM": (_signal(signal.SIGTERM), 128 + signal.SIGTERM),
    "SIGINT": (_signal(signal.SIGINT), 128 + signal.SIGINT),
    "SIGHUP": (_signal(signal.SIGHUP), 128 + signal.SIGHUP),
    "stdout closed": (_output_closed, 0),
    "parent killed, pipes held by a sibling": (_parent_killed_pipes_held, -signal.SIGKILL),
    "client killed": (_client_killed, -signal.SIGKILL),
}
BELOW_A_SHELL = {"parent killed, pipes held by a sibling", "client killed"}


@contextmanager
def started(state: str, ending: str) -> Iterator[Peer]:
    """Start a server below this process or below a shell; a gate holds it in the middle of starting."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, str(TOY)]
        if state == "still starting":
            os.mkfifo(gate := f"{folder}/gate")
            command.append(gate)
        if ending in BELOW_A_SHELL:
            command = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *command]
        with running(command) as peer:
            yield peer


def seconds_to_end(state: str, ending: str) -> float:
    """Bring a server into a state, end it, and return how long it took; infinity for over 5 s.

    The exit code is checked of one that kept the promise: on a busy machine the kernel's alarm may cut one off.
    """
    end, code = ENDINGS[ending]
    with started(state, ending) as peer:
        STATES[state](peer)
        assert not peer.is_gone(0)
        begin = time.monotonic()
        end(peer)
        taken = time.monotonic() - begin if peer.is_gone(WORST_S) else math.inf
        assert taken > PROMISED_S or peer.server.wait(PATIENCE_S) == code
        return taken


def assert_all_end(cases: list[tuple[str, str]]) -> None:
    """End several at a time. On a busy machine one may be late once; a server that is slow is slow twice."""
    with ThreadPoolExecutor(4) as pool:
        taken = dict(zip(cases, pool.map(lambda case: seconds_to_end(*case), cases), strict=True))
    late = [case for case, taken_s in taken.items() if taken_s > PROMISED_S]
    assert {case: taken_s for case in late if (taken_s := seconds_to_end(*case)) > PROMISED_S} == {}


def test_a_server_that_is_late_is_tried_once_more_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a busy machine: what is measured is given here."""
    given = {("idle", "SIGTERM"): [math.inf, 0.1], ("idle", "SIGINT"): [0.1], ("idle", "SIGHUP"): [3.0, 2.1]}
    monkeypatch.setattr(f"{__name__}.seconds_to_end", lambda *case: given[case].pop(0))
    assert_all_end([("idle", "SIGTERM"), ("idle", "SIGINT")])
    assert [given[case] for case in list(given)[:2]] == [[], []]
    with pytest.raises(AssertionError):
        assert_all_end([("idle", "SIGHUP")])


# Each state and each ending at least once; a server that is still starting costs little to start.
FEW = [
    ("worker thread blocked", "end of input"),
    ("event loop blocked", "SIGHUP"),
    ("tool running", "SIGINT"),
    ("reply unread", "SIGTERM"),
    ("idle", "stdout closed"),
    ("idle", "parent killed, pipes held by a sibling"),
    *product(["still starting"], ENDINGS),
]


def test_server_ends_in_two_seconds_in_each_state_and_by_each_ending() -> None:
    assert_all_end(FEW)


@pytest.mark.full
def test_server_ends_in_two_seconds_in_every_state_by_every_ending() -> None:
    assert_all_end([case for case in product(STATES, ENDINGS) if case not in FEW])


def test_what_runs_at_the_end_of_input_is_finished_and_answered() -> None:
    with toy() as peer:
        assert text_of(peer.ask(call(0, "echo", text="up"))) == "up"
        peer.send(call(1, "sleep", s=0.3), call(2, "sleep", s=0.3, where="thread"), call(3, "echo", text="x"))
        peer.wait_for_note(b"sleeping\nsleeping\n")
        peer.stdin.close()
        answers = sorted((answer["id"], text_of(answer)) for answer in peer.rest())
        assert answers == [(1, "slept"), (2, "slept"), (3, "x")]
        assert peer.server.wait(PATIENCE_S) == 0


def test_what_cannot_be_finished_is_answered_as_unknown_and_what_comes_later_as_not_done() -> None:
    with toy() as peer:
        peer.send(call(1, "sleep", s=30), call(2, "sleep", s=30, where="thread"))
        peer.wait_for_note(b"sleeping\nsleeping\n")
        peer.server.send_signal(signal.SIGTERM)
        peer.wait_for_note(b"ending: signal 15")
        late = peer.ask(call(3, "echo", text="x"))
        assert (late["id"], late["error"]["code"]) == (3, -32000)
        assert "nothing was done" in late["error"]["message"]
        rest = peer.rest()
        assert [(answer["id"], answer["error"]["code"]) for answer in rest] == [(1, -32000), (2, -32000)]
        assert all("unknown" in answer["error"]["message"] for answer in rest)
        assert peer.server.wait(PATIENCE_S) == 128 + signal.SIGTERM


def test_requests_sent_while_starting_are_answered_though_the_input_ended_before(tmp_path: Path) -> None:
    os.mkfifo(gate := tmp_path / "gate")
    with toy(str(gate)) as peer:
        peer.wait_for_note(b"starting")
        peer.send(call(1, "echo", text="x"), b"{}\n")
        assert peer.receive() == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": 'A message must say "jsonrpc": "2.0".'},
        }
        peer.stdin.close()
        gate.open("w").close()
        assert [text_of(answer) for answer in peer.rest()] == ["x"]
        assert peer.server.wait(PATIENCE_S) == 0


def test_signal_while_starting_answers_what_waits_as_not_done(tmp_path: Path) -> None:
    os.mkfifo(gate := tmp_path / "gate")
    with toy(str(gate)) as peer:
        peer.wait_for_note(b"starting")
        peer.send(call(1, "echo", text="x"))
        assert peer.ask(b"{}\n")["id"] is None
        peer.server.send_signal(signal.SIGINT)
        (answer,) = peer.rest()
        assert (answer["id"], answer["error"]["code"]) == (1, -32000)
        assert "nothing was done" in answer["error"]["message"]


@pytest.mark.parametrize("redirection", ["</dev/null", "<&-", ">&-", "<&- >&- 2>&-"])
def test_server_without_standard_streams_ends_at_once_and_without_failure(redirection: str) -> None:
    command = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, str(TOY), "/dev/null"]
    assert (
        subprocess.run(command, stdin=subprocess.PIPE, env=environment(), timeout=PATIENCE_S).returncode == 0
    )


def test_ignored_hangup_stays_ignored(tmp_path: Path) -> None:
    """`nohup` sets it so, and means it: the server outlives the hang-up and ends by the next signal."""
    os.mkfifo(gate := tmp_path / "gate")
    command = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", sys.executable, str(TOY), str(gate)]
    with running(command) as peer:
        peer.wait_for_note(b"starting")
        peer.server.send_signal(signal.SIGHUP)
        assert not peer.is_gone(1)
        peer.server.send_signal(signal.SIGTERM)
        assert peer.server.wait(PATIENCE_S) == 128 + signal.SIGTERM


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.skipif(sys.platform != "linux", reason="reads the time used from /proc")
def test_server_uses_no_cpu_while_idle_and_while_it_waits_to_end() -> None:
    """A tick is 10 ms; the wait to end lasts 1.5 s."""
    with toy() as peer:
        _idle(peer)
        begin = _cpu_ticks(peer.server.pid)
        assert not peer.is_gone(1)
        assert _cpu_ticks(peer.server.pid) - begin <= 2
        peer.send(call(1, "sleep", s=30, where="thread"))
        peer.wait_for_note(b"sleeping")
        begin = _cpu_ticks(peer.server.pid)
        peer.stdin.close()
        assert peer.is_gone(WORST_S)
        assert _cpu_ticks(peer.server.pid) - begin <= 8


GUARDED = """
import threading, time
from pinfold.server.lifetime import guard, FINISHED
threading.Thread(target=time.sleep, args=(60,)).start()
with guard() as life:
    {body}
"""


@pytest.mark.parametrize(("body", "code"), [("pass", 0), ("1 / 0", 1), ("raise SystemExit(0)", 1)])
def test_leaving_the_guarded_block_ends_the_process_though_a_thread_runs(body: str, code: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", GUARDED.format(body=body)],
        env=environment(),
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == code
    assert (b"ZeroDivisionError" in run.stderr) == (body == "1 / 0")


@pytest.mark.full
def test_ending_that_gets_stuck_is_cut_off_by_the_kernel() -> None:
    body = "life.on_ending(lambda: time.sleep(60))"
    run = subprocess.run(
        [sys.executable, "-c", GUARDED.format(body=body)], env=environment(), timeout=PATIENCE_S
    )
    assert run.returncode == -signal.SIGALRM
