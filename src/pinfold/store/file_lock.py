"""An exclusive lock on an open file, waited for in the system's own queue.

Where there is `flock` it is all that is needed; portalocker, which knows the other systems, would cost each hook
as much as an interpreter's start. Source: docs/decisions/0004.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import portalocker
    from portalocker import LockFlags

    def lock(fd: int, *, wait: bool) -> bool:
        """Lock the file; False when it cannot be, or not at once where `wait` is False."""
        try:
            portalocker.lock(
                fd, LockFlags.EXCLUSIVE if wait else LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING
            )
        except portalocker.LockException:
            return False
        return True

    def unlock(fd: int) -> None:
        """Let go of the lock."""
        portalocker.unlock(fd)

else:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

    def lock(fd: int, *, wait: bool) -> bool:
        """Lock the file; False when it cannot be at once and `wait` is False.

        Raises `OSError` where the filesystem has no locks, or has no more of them.
        """
        try:
            flock(fd, LOCK_EX if wait else LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Let go of the lock."""
        flock(fd, LOCK_UN)


__all__ = ["lock", "unlock"]
