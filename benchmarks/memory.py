"""Peak memory of a process, as Linux counts it for its current program alone."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks.row import SkippedError


def peak_bytes(pid: int | str = "self") -> int:
    """Return the largest resident size of a running process so far.

    The figure that the system gives when a process has ended is no substitute: it holds the parent's
    memory from before the program was started. Raises `SkippedError` where there is no /proc.
    """
    status = Path(f"/proc/{pid}/status")
    if not sys.platform.startswith("linux") or not status.exists():
        raise SkippedError("peak memory is read from /proc, which only Linux has")
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024
