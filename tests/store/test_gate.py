from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from pinfold.store.errors import BusyError
from pinfold.store.sqlite.gate import Gate
from tests.store.children import child, line_of, tell

HOLDER = """
import sys
from pathlib import Path
from pinfold.store.sqlite.gate import Gate

gate = Gate(Path(sys.argv[1]))
for _ in sys.stdin:
    with gate.hold():
        print("held", flush=True)
        sys.stdin.readline()
    print("free", flush=True)
"""

GREEDY = """
import sys
from pathlib import Path
from pinfold.store.sqlite.gate import Gate

gate = Gate(Path(sys.argv[1]))
print("begun", flush=True)
while True:
    with gate.hold():
        sum(range(20_000))
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "log.lock"


def _waiters() -> int:
    return sum(thread.name == "pinfold-gate" for thread in threading.enumerate())


def test_busy_names_the_process_that_holds_the_lock(lock: Path) -> None:
    gate = Gate(lock, wait_s=0.2)
    with child(HOLDER, lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        begun = time.monotonic()
        with pytest.raises(BusyError) as busy, gate.hold():
            pass
        assert 0.2 <= time.monotonic() - begun < 2
        assert busy.value.holder == f"pid {holder.pid}"
    gate.close()


def test_a_killed_holder_leaves_the_lock_free(lock: Path) -> None:
    gate = Gate(lock, wait_s=5)
    with child(HOLDER, lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        holder.kill()
        with gate.hold():
            assert gate.holder() == f"pid {os.getpid()}"
    gate.close()


def test_a_stopped_holder_makes_others_busy_until_it_goes_on(lock: Path) -> None:
    gate = Gate(lock, wait_s=0.2)
    with child(HOLDER, lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        holder.send_signal(signal.SIGSTOP)
        for _ in range(2):
            with pytest.raises(BusyError), gate.hold():
                pass
        holder.send_signal(signal.SIGCONT)
        tell(holder)
        assert line_of(holder) == "free"
        with gate.hold():
            pass
    gate.close()


def test_waits_that_were_given_up_leave_one_thread_and_no_lock_behind(lock: Path) -> None:
    gate, other = Gate(lock, wait_s=0.05), Gate(lock, wait_s=5)
    before = _waiters()
    with child(HOLDER, lock) as holder:
        tell(holder)
        assert line_of(holder) == "held"
        descriptors = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else None
        for _ in range(10):
            with pytest.raises(BusyError), gate.hold():
                pass
        assert _waiters() - before <= 1
        if descriptors is not None:
            assert len(os.listdir("/proc/self/fd")) <= descriptors + 1
        tell(holder)
        assert line_of(holder) == "free"
        with other.hold():
            pass
    gate.close()
    other.close()


def test_the_waiting_time_counts_from_when_the_caller_asked(lock: Path) -> None:
    gate, other = Gate(lock, wait_s=5), Gate(lock)
    with other.hold():
        begun = time.monotonic()
        with pytest.raises(BusyError, match="busy for 60 s"), gate.hold(asked=begun - 60):
            pass
        assert time.monotonic() - begun < 1
    with gate.hold(asked=begun - 60):  # a free lock is taken however late the caller is
        pass
    gate.close()
    other.close()


def test_a_process_that_takes_the_lock_again_and_again_does_not_keep_another_out(lock: Path) -> None:
    gate = Gate(lock, wait_s=5)
    worst = 0.0
    with child(GREEDY, lock) as greedy:
        assert line_of(greedy) == "begun"
        for _ in range(30):
            begun = time.monotonic()
            with gate.hold():
                worst = max(worst, time.monotonic() - begun)
        assert greedy.poll() is None
    gate.close()
    print(f"worst of 30 waits against a greedy process: {worst * 1000:.0f} ms")
    assert worst < 1


def test_closing_twice_does_no_harm(lock: Path) -> None:
    gate = Gate(lock)
    gate.close()
    gate.close()
