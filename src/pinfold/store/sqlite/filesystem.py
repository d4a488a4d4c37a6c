"""Which filesystems cannot carry SQLite's write-ahead log, and which one a folder lies on. Source: P17."""

from __future__ import annotations

import os
import re
from pathlib import Path

NO_WAL = ("9p", "virtiofs", "nfs", "cifs", "smb", "fuse", "drvfs", "vboxsf", "prl_fs", "afpfs", "webdav")
"""Types (or what they begin with) on which shared memory or locks are known to break."""

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def filesystem_type(folder: Path, mounts: Path = _MOUNTS) -> str:
    """Return the type of the filesystem that holds `folder`, e.g. `ext4`; empty where it cannot be known."""
    try:
        table = mounts.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    target = os.path.realpath(folder)
    best, found = "", ""
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        point = _ESCAPED.sub(lambda escape: chr(int(escape[1], 8)), before.split(" ")[4])
        if _holds(point, target) and len(point) >= len(best):
            best, found = point, after.split(" ")[0]
    return found


def _holds(point: str, target: str) -> bool:
    return target == point or target.startswith(point.rstrip("/") + "/")


def can_carry_wal(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a write-ahead log is safe below `folder`."""
    return not filesystem_type(folder, mounts).startswith(NO_WAL)
