"""The standard descriptors, taken out of everybody else's reach, and how to read and write them completely.

A print, a C library or a child that writes to stdout reaches stderr instead of the wire, and one that
reads stdin finds its end. Source: P19.
"""

from __future__ import annotations

import os
import select
import sys

_READ_BYTES = 64 * 1024


def fill_gaps() -> None:
    """Open those of fd 0 to 2 that are closed, so that no other file lands there.

    Fd 0 then is at its end, fd 1 has no reader, and fd 2 leads nowhere.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            _move(_broken_pipe() if fd == 1 else os.open(os.devnull, os.O_RDWR), fd)


def claim_stdio() -> tuple[int, int]:
    """Return private duplicates of fd 0 and fd 1, and divert the originals.

    Fd 0 then reads the null device, and fd 1 writes where fd 2 does. Children inherit neither duplicate.
    """
    source, target = _private(0), _private(1)
    _move(os.open(os.devnull, os.O_RDONLY), 0)
    _move(os.dup(2), 1)
    return source, target


def read_some(fd: int) -> bytes:
    """Return the next bytes, at most 64 KiB; empty at the end. Waits even on a non-blocking descriptor."""
    while True:
        try:
            return os.read(fd, _READ_BYTES)
        except BlockingIOError:
            select.select([fd], [], [])


def write_all(fd: int, content: bytes) -> None:
    """Write everything, in as many parts as it takes. Raises `OSError` when the other end is gone."""
    rest = memoryview(content)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            select.select([], [fd], [])


def hung_up(fd: int) -> bool:
    """Say whether no writer is left at the other end, though bytes may still wait to be read."""
    if sys.platform == "win32":
        return False
    poll = select.poll()
    poll.register(fd, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll(0))


def _private(fd: int) -> int:
    if sys.platform == "win32":
        return os.dup(fd)
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _move(fd: int, place: int) -> None:
    if fd != place:
        os.dup2(fd, place)
        os.close(fd)


def _broken_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer
