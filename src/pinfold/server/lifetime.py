"""How the process ends: one thread hears every reason to, sees out what runs, and exits in bounded time.

It never waits for the main thread, which may be importing, computing or stuck. The store needs no clean-up
to be safe, since every acknowledged write is committed. Source: P18.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from pinfold.server.notes import note, note_failure
from pinfold.server.standard_streams import fill_gaps

LEAVE_S = 0.2
HARD_LIMIT_S = 4.5
_PARENT_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Ending:
    """Why the process ends, and its exit code: 0, 1 after a failure, 128 + n after signal n."""

    reason: str
    code: int = 0


END_OF_INPUT = Ending("end of input")
OUTPUT_CLOSED = Ending("stdout is closed")
PARENT_DIED = Ending("the parent process died")
FINISHED = Ending("finished")
FAILED = Ending("the server failed", 1)

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)


class Lifetime:
    """The process's one ending: the first reason counts, and it is never taken back."""

    def __init__(self) -> None:
        self.ending: Ending | None = None
        self._parent = os.getppid()
        self._wake, self._waker = os.pipe()
        self._hangups: dict[int, Ending] = {}
        self._steps: list[Callable[[], object]] = []
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._see_out, name="pinfold-lifetime", daemon=True)

    def end(self, ending: Ending) -> None:
        """Begin to end, and return at once. Callable from any thread and from a signal handler."""
        self.ending = self.ending or ending
        self._look_again()

    def on_ending(self, step: Callable[[], object]) -> None:
        """Add a step to run when the ending begins, after those added before. It must return within 2 s."""
        self._steps.append(step)

    def watch_hangup(self, fd: int, ending: Ending) -> None:
        """End when nobody is left to read what is written to `fd`."""
        self._hangups[fd] = ending
        self._look_again()

    def start(self) -> None:
        """Listen to signals, to the parent's death and to hang-ups. On the main thread."""
        for number in _SIGNALS:
            if number != getattr(signal, "SIGHUP", None) or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._hear_signal)
        if sys.platform != "win32":
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            os.set_blocking(self._waker, False)
            signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        self._thread.start()

    def leave(self) -> None:
        """Let the process end, now that the main thread is done. Does not return."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        self._left.set()
        self._thread.join()

    def _look_again(self) -> None:
        with suppress(BlockingIOError):
            os.write(self._waker, b"\0")

    def _hear_signal(self, number: int, _frame: FrameType | None) -> None:
        self.end(Ending(f"signal {number}", 128 + number))

    def _see_out(self) -> None:
        try:
            ending = self._await_ending()
            _set_kernel_alarm()
            if ending is not END_OF_INPUT:
                note(f"ending: {ending.reason}")
            for step in self._steps:
                step()
            self._left.wait(LEAVE_S)
        except Exception as error:
            note(f"ending was cut short by {type(error).__name__}")
        finally:
            os._exit((self.ending or FAILED).code)

    def _await_ending(self) -> Ending:
        parent_fd = _pidfd(self._parent)
        while self.ending is None:
            if sys.platform == "win32":
                os.read(self._wake, 512)
            else:
                self._watch(parent_fd)
        return self.ending

    def _watch(self, parent_fd: int | None) -> None:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        for fd in tuple(self._hangups):  # the main thread may add one meanwhile
            poll.register(fd, 0)
        if parent_fd is not None:
            poll.register(parent_fd, select.POLLIN)
        for fd, events in poll.poll(None if parent_fd is not None else _PARENT_POLL_S * 1000):
            self._heed(fd, events)
        if os.getppid() != self._parent:
            self.end(PARENT_DIED)

    def _heed(self, fd: int, events: int) -> None:
        if fd == self._wake:
            for number in os.read(self._wake, 512):
                if number in _SIGNALS:
                    self._hear_signal(number, None)
        elif events & (select.POLLHUP | select.POLLERR) and fd in self._hangups:
            self.end(self._hangups[fd])


def _pidfd(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends, where the kernel has them."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            return os.pidfd_open(pid)
    return None


def _set_kernel_alarm() -> None:
    """Have the kernel end the process should even the interpreter be stuck."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, HARD_LIMIT_S)


@contextmanager
def guard() -> Iterator[Lifetime]:
    """Run a block as the process's whole life: when it is left, or told to end, the process exits.

    On the main thread, before anything slow. Exit handlers do not run.
    """
    fill_gaps()
    life = Lifetime()
    life.start()
    try:
        yield life
        life.end(FINISHED)
    except BaseException as error:
        note_failure("the server", error)
        life.end(FAILED)
    finally:
        life.leave()
