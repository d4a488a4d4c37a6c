"""The one lock of a store across processes: around every write transaction, checkpoint and close.

It queues fairly where SQLite's own busy loop does not, and it keeps every commit away from every checkpoint,
which closes the WAL-reset race of SQLite 3.7.0 to 3.51.2. The record in the lock file names the holder.
Sources: design 1; P12.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pinfold.store.errors import BusyError
from pinfold.store.file_lock import lock, unlock
from pinfold.store.sqlite.connection import refuse_fork
from pinfold.store.sqlite.failures import refuse_place

WAIT_S = 10.0
_RECORD_BYTES = 64
_LEAST_WAIT_S = 0.1
"""Enough for a wait that was given up to be taken up again just as it comes to its end."""


def _open(path: Path) -> int:
    closing = getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | closing, 0o600)
    except OSError:
        if not path.exists():
            raise
        return os.open(path, os.O_RDONLY | closing)  # where nothing can be written there is still reading


class _Waiter:
    """Waits in the system's queue on a thread, so that the wait can be given up and taken up again."""

    def __init__(self, path: Path) -> None:
        self._fd = _open(path)
        self._turn = threading.Lock()
        self._wanted = True
        self._ended = threading.Event()
        threading.Thread(target=self._wait, name="pinfold-gate", daemon=True).start()

    def _wait(self) -> None:
        locked = False
        with suppress(OSError):
            locked = lock(self._fd, wait=True)
        with self._turn:
            if not (locked and self._wanted):
                os.close(self._fd)
                self._fd = -1
            self._ended.set()

    def take(self, timeout_s: float) -> int | None:
        """Return the locked descriptor, or None after `timeout_s`."""
        self._ended.wait(timeout_s)
        with self._turn:
            self._wanted = self._ended.is_set()
            return self._fd if self._wanted and self._fd >= 0 else None

    def resume(self) -> bool:
        """Want the lock again; False when the wait came to its end while nobody wanted it."""
        with self._turn:
            self._wanted = not self._ended.is_set()
            return self._wanted


class Gate:
    """One process's way through the lock file at `path`, made when missing; for one thread at a time."""

    def __init__(self, path: Path, wait_s: float = WAIT_S) -> None:
        self._path = path
        self._wait_s = wait_s
        self._fd = _open(path)
        self._waiter: _Waiter | None = None
        self._process = os.getpid()
        self._record = f"pid {self._process}".ljust(_RECORD_BYTES).encode()

    @contextmanager
    def hold(self, asked: float | None = None, wait_s: float | None = None) -> Iterator[None]:
        """Hold the lock.

        `wait_s` (at most the gate's own) counts from `asked`, a reading of `time.monotonic` (default: now).
        Raises `BusyError`, which names the holder, when the waiting time is over; `RuntimeError` in a forked child.
        """
        refuse_fork(self._process)
        asked = time.monotonic() if asked is None else asked
        self._acquire(asked, self._wait_s if wait_s is None else min(wait_s, self._wait_s))
        try:
            yield
        finally:
            unlock(self._fd)

    def _acquire(self, asked: float, wait_s: float) -> None:
        try:
            is_free = lock(self._fd, wait=False)
        except OSError as error:
            refuse_place(error, str(self._path.parent))
        if not is_free:
            self._queue(asked, wait_s)
        with suppress(OSError):  # a full disk must not take the lock away
            os.pwrite(self._fd, self._record, 0)

    def _queue(self, asked: float, wait_s: float) -> None:
        """Wait in line; a wait that was given up is taken up again, so there is never more than one."""
        if self._waiter is None or not self._waiter.resume():
            self._waiter = _Waiter(self._path)
        fd = self._waiter.take(max(_LEAST_WAIT_S, asked + wait_s - time.monotonic()))
        if fd is None:
            raise BusyError(time.monotonic() - asked, self.holder())
        self._waiter = None
        os.close(self._fd)
        self._fd = fd

    def holder(self) -> str:
        """Return who wrote the lock's record last, e.g. `pid 4711`."""
        return _named(self._fd)

    def close(self) -> None:
        """Let go of the descriptor. Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def holder_now(path: Path) -> tuple[str, float] | None:
    """Return who holds the lock at `path` now and for how many seconds; None when nobody does, or it was never made."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return None
    try:
        if lock(fd, wait=False):
            unlock(fd)
            return None
        taken = os.fstat(fd).st_mtime  # the record is written at each taking
        return _named(fd), max(0.0, time.time() - taken)
    finally:
        os.close(fd)


def _named(fd: int) -> str:
    with suppress(OSError):
        record = os.pread(fd, _RECORD_BYTES, 0).decode("ascii", "replace").strip()
        if record:
            return record
    return "an unknown process"
