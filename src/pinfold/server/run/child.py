"""The command as a child of ours: started like a shell would, signalled as we are, and its ending is our own."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

Child = subprocess.Popen[bytes]

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_RELAYED = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")
    if hasattr(signal, name)
)
_TYPED = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))


class NotStartedError(Exception):
    """The command could not be started; `status` is what a shell would end with."""

    def __init__(self, name: str, error: OSError) -> None:
        is_missing = error.errno == errno.ENOENT
        reason = "command not found" if is_missing and os.sep not in name else error.strerror
        super().__init__(f"{name}: {reason}")
        self.status = _NOT_FOUND if is_missing else _NOT_EXECUTABLE


def start(command: Sequence[str], *, together: bool) -> Child:
    """Start the command in our process group, with our stdin and every descriptor that we were given.

    Its stdout and stderr are two pipes, or one with `together`. Raises `NotStartedError`.
    """
    try:
        try:
            return _spawn(command, together=together)
        except OSError as error:
            if error.errno != errno.ENOEXEC or sys.platform == "win32":
                raise
            found = _found(command[0])
            return _spawn(["/bin/sh", found, *command[1:]], together=together)  # as execvp(3) runs a script
    except OSError as error:
        raise NotStartedError(command[0], error) from None


def _spawn(command: Sequence[str], *, together: bool) -> Child:
    program = _found(command[0]) if sys.platform == "win32" else None  # npm is npm.cmd there
    return subprocess.Popen(  # noqa: S603 - to run what it is given is what it is for
        command,
        executable=program,
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        close_fds=False,  # `diff <(a) <(b)` and make's jobserver hand descriptors on; ours are not inheritable
    )


def _found(name: str) -> str:
    import shutil

    return shutil.which(name) or name


class Relay:
    """Hands signals on to the command, from before it starts until it has ended.

    It stays in our process group, so that what a terminal or a client sends to the group reaches it without us.
    Signals that are ignored stay so. On the main thread.
    """

    def __init__(self) -> None:
        self._child: Child | None = None
        self._early: list[int] = []
        self._heard = [number for number in _RELAYED if signal.getsignal(number) is not signal.SIG_IGN]
        for number in self._heard:
            signal.signal(number, self._hear)
        if sys.platform != "win32":
            # A signal may reach another thread, or come just before this one waits: the pipe tells in any case.
            self._wake, waker = os.pipe()
            os.set_blocking(waker, False)
            signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
            signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def attach(self, child: Child) -> None:
        """Send the child what came before it was there, and from now on what comes."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def see_out(self) -> int:
        """Return the child's status, once it has ended; from then on signals end us again."""
        assert self._child is not None
        if sys.platform == "win32":
            return self._child.wait()
        while (status := self._child.poll()) is None:
            os.read(self._wake, 512)
        for number in self._heard:
            signal.signal(number, signal.SIG_DFL)
        return status

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
        elif not _reached(self._child, number):
            self._child.send_signal(number)


def _reached(child: Child, number: int) -> bool:
    """Whether a signal was sent by the terminal that we are in the foreground of, and so to the child as well.

    A second Ctrl-C means more than the first to many programs, so none may come twice.
    """
    if sys.platform == "win32":
        return True  # the console tells every process that is attached to it
    if number not in _TYPED:
        return False
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp() == os.getpgid(child.pid)
        finally:
            os.close(terminal)
    return False


def leave_like(status: int) -> NoReturn:
    """End as a child did: with its exit status, or by the signal -`status`, so that a shell sees 128 + n."""
    if status < 0 and sys.platform != "win32":
        _end_by(-status)
    sys.exit(status if status >= 0 else 128 - status)


def _end_by(number: int) -> None:
    assert sys.platform != "win32"
    import resource

    with suppress(OSError, ValueError):  # SIGKILL has no disposition to set
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
