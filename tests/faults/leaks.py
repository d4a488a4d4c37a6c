"""What a piece of work must not leave behind in its process: threads and descriptors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 20.0


def descriptors() -> int:
    """How many descriptors this process has open; 0 where nobody can tell."""
    listing = Path("/dev/fd")
    return len(os.listdir(listing)) if listing.is_dir() else 0


@contextmanager
def nothing_left() -> Iterator[None]:
    """Fail unless all threads that begin in the block end soon behind it, and all descriptors are closed."""
    known, opened = set(threading.enumerate()), descriptors()
    yield
    end = time.monotonic() + PATIENCE_S
    for thread in set(threading.enumerate()) - known:
        thread.join(max(0.0, end - time.monotonic()))
        assert not thread.is_alive(), thread.name
    assert descriptors() <= opened
