"""Servers that start in a tenth of the time: forked from a process that has their modules loaded.

Each is a process of its own that reads and writes its own pipes and can be killed as any other. How a server gets to
its first module is what tests of `python -m pinfold` are for.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any

import pytest

ROOT = Path(__file__).parents[2]
_STARTING = threading.Lock()


@cache
def _nest() -> ForkServerContext:
    nest = multiprocessing.get_context("forkserver")
    nest.set_forkserver_preload(["tests.warm.loaded", __name__])
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # what is loaded is this copy of the program, not an installed one
        patch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "src"), str(ROOT))))
        ensure_running()
    return nest


def nothing() -> None:
    """What most servers have to do before all else."""


class _Given:
    """A descriptor of this process that is a number in the forked one, where it arrives as a duplicate."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[object]]:
        return _taken, (
            DupFd(self.fd),
        )  # while a process is being started, that is: not over a socket of ours


def _taken(given: Any) -> int:
    fd: int = given.detach()
    return fd


def _live(
    fds: list[int], environment: dict[str, str], first: Callable[[], object], arguments: tuple[str, ...]
) -> None:
    """What a forked process does: become the server of these pipes, as `python -m pinfold` in that environment."""
    first()
    for place, fd in enumerate(fds[:3]):
        os.dup2(fd, place)
        os.close(fd)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(place, "rw"[place > 0], closefd=False) for place in range(3)
    )
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["pinfold", *arguments]
    from pinfold.__main__ import main

    main()


class WarmProcess:
    """A forked server with the face of `subprocess.Popen`, as far as the tests look at it.

    It writes its notes to the descriptor `stderr`, keeps `held` open for as long as it lives, and calls `first`, which
    has to be importable, before all else. `arguments` are those of the command line.
    """

    def __init__(
        self,
        stderr: int,
        environment: Mapping[str, str],
        held: tuple[int, ...] = (),
        first: Callable[[], object] = nothing,
        arguments: tuple[str, ...] = (),
    ) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        with _STARTING:
            given = [_Given(fd) for fd in (theirs_in, theirs_out, stderr, *held)]
            told = (given, dict(environment), first, arguments)
            self._process = _nest().Process(target=_live, args=told, daemon=True)
            self._process.start()
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin: IO[bytes] | None = os.fdopen(ours_in, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(ours_out, "rb")

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; raises `TimeoutExpired`."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("a warm server", timeout or 0)
        return code
