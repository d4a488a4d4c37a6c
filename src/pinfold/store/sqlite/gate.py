"""The one lock of a store across processes: around every write transaction, checkpoint and close.

It queues fairly where SQLite's own busy loop does not, and it keeps every commit away from every checkpoint, which closes
the WAL-reset race of SQLite 3.7.0 to 3.51.2. The record in the lock file names the holder. Sources: design 1; P12.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import portalocker
from portalocker import LockFlags

from pinfold.store.errors import BusyError

WAIT_S = 10.0
_RECORD_BYTES = 64


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)


class _Waiter:
    """Waits in the operating system's queue on a thread, so that the wait can be given up."""

    def __init__(self, path: Path) -> None:
        self._fd = _open(path)
        self._turn = threading.Lock()
        self._given_up = False
        self._got = threading.Event()
        threading.Thread(target=self._wait, name="pinfold-gate", daemon=True).start()

    def _wait(self) -> None:
        portalocker.lock(self._fd, LockFlags.EXCLUSIVE)
        with self._turn:
            if self._given_up:
                os.close(self._fd)
            self._got.set()

    def take(self, timeout_s: float) -> int | None:
        """Return the locked descriptor, or None after `timeout_s`."""
        self._got.wait(timeout_s)
        with self._turn:
            if self._got.is_set():
                return self._fd
            self._given_up = True
            return None


class Gate:
    """One process's way through the lock file at `path`, which is made when missing."""

    def __init__(self, path: Path, wait_s: float = WAIT_S) -> None:
        self._path = path
        self._wait_s = wait_s
        self._fd = _open(path)
        self._record = f"pid {os.getpid()}".ljust(_RECORD_BYTES).encode()

    @contextmanager
    def hold(self) -> Iterator[float]:
        """Hold the lock; yields the seconds left of the waiting time.

        Raises `BusyError`, which names the holder, after the waiting time.
        """
        begun = time.monotonic()
        self._acquire()
        try:
            yield max(0.1, self._wait_s - (time.monotonic() - begun))
        finally:
            portalocker.unlock(self._fd)

    def _acquire(self) -> None:
        try:
            portalocker.lock(self._fd, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            self._queue()
        with suppress(OSError):  # a full disk must not take the lock away
            os.pwrite(self._fd, self._record, 0)

    def _queue(self) -> None:
        fd = _Waiter(self._path).take(self._wait_s)
        if fd is None:
            raise BusyError(self._wait_s, self.holder())
        os.close(self._fd)
        self._fd = fd

    def holder(self) -> str:
        """Return who wrote the lock's record last, e.g. `pid 4711`."""
        with suppress(OSError):
            record = os.pread(self._fd, _RECORD_BYTES, 0).decode("ascii", "replace").strip()
            if record:
                return record
        return "an unknown process"

    def close(self) -> None:
        """Let go of the descriptor. Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
