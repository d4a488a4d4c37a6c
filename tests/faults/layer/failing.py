"""A disk in trouble: from some call on, once or until it is healed, the calls of some kinds fail."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.faults.layer.shim import FileCall, Go, Kind


@dataclass(frozen=True, slots=True)
class Trouble:
    """Which calls fail, and with which of SQLite's codes.

    `growing_only`: a write into room that the file has already does not fail. `writes_half`: half of it is
    written before it fails.
    """

    codes: Mapping[Kind, int]
    growing_only: bool = False
    writes_half: bool = False

    def strikes(self, call: FileCall) -> bool:
        """Whether this call is one of those that may fail."""
        if call.kind not in self.codes:
            return False
        has_room = call.kind == "write" and call.offset + call.amount <= os.path.getsize(call.path)
        return not (self.growing_only and has_room)


BROKEN = Trouble(
    {
        "open": sqlite3.SQLITE_CANTOPEN,
        "read": sqlite3.SQLITE_IOERR_READ,
        "write": sqlite3.SQLITE_IOERR_WRITE,
        "truncate": sqlite3.SQLITE_IOERR_TRUNCATE,
        "sync": sqlite3.SQLITE_IOERR_FSYNC,
        "delete": sqlite3.SQLITE_IOERR_DELETE,
        "shm_map": sqlite3.SQLITE_IOERR_SHMMAP,
        "shm_lock": sqlite3.SQLITE_IOERR_SHMLOCK,
    }
)
"""The system says EIO."""

FULL = Trouble({"write": sqlite3.SQLITE_FULL, "shm_map": sqlite3.SQLITE_IOERR_SHMSIZE}, growing_only=True)
"""ENOSPC, known before a byte is written."""

OVER_QUOTA = Trouble({"write": sqlite3.SQLITE_IOERR_WRITE}, growing_only=True, writes_half=True)
"""EDQUOT, which SQLite does not tell from other failures; a part of the write may be there."""

READ_ONLY = Trouble(
    {
        "write": sqlite3.SQLITE_IOERR_WRITE,
        "truncate": sqlite3.SQLITE_IOERR_TRUNCATE,
        "delete": sqlite3.SQLITE_IOERR_DELETE,
        "shm_map": sqlite3.SQLITE_READONLY_CANTINIT,
    }
)
"""EROFS on open files, as after a disk's errors."""

UNSYNCED = Trouble({"sync": sqlite3.SQLITE_IOERR_FSYNC})
"""EIO, but only when it is too late."""


@dataclass
class Failing:
    """Counts the calls below `folder` that the trouble is about, and fails those from number `first` (from 0) on."""

    folder: Path
    trouble: Trouble
    first: int
    once: bool
    healed: bool = False
    seen: int = 0
    injected: list[Kind] = field(default_factory=list)

    def __call__(self, call: FileCall, go: Go) -> int:
        """Be a hook of the shim."""
        if self.healed or Path(call.path).parent != self.folder or not self.trouble.strikes(call):
            return go(call)
        number, self.seen = self.seen, self.seen + 1
        if number < self.first or (self.once and self.injected):
            return go(call)
        self.injected.append(call.kind)
        if call.kind == "write" and self.trouble.writes_half:
            go(replace(call, amount=call.amount // 2))
        return self.trouble.codes[call.kind]
