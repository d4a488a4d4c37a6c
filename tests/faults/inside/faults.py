"""Faults inside a server's own process: death at a named point, a slow disk, a disk in trouble for a while."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.faults.layer.failing import FULL, OVER_QUOTA, READ_ONLY
from tests.faults.layer.shim import FileCall, Go, shim

FILE_CALL = "file call"
SYNC_BEGINS = "sync begins"
SYNC_ENDS = "sync ends"
_VARIABLE = "PINFOLD_FAULTS"
_HERE = Path(__file__).parent
_SOURCE = _HERE.parents[2] / "src"
_TROUBLES = {"full": FULL, "over a quota": OVER_QUOTA, "read-only": READ_ONLY}


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong: the process dies when it comes to `point` for the `nth` time (from 1).

    A point is one of those named above, or what the store tells SQLite, e.g. `before COMMIT` or
    `after INSERT INTO event`. Points that are passed are written to `passed`, a line each.
    As long as the file `while_there` is there, each sync takes `sync_s` longer, and the disk has `trouble`.
    """

    point: str = ""
    nth: int = 1
    passed: str = ""
    sync_s: float = 0.0
    trouble: str = ""
    while_there: str = ""

    def __str__(self) -> str:
        """Return where it dies."""
        return f"{self.point} ({self.nth})"

    def environment(self) -> dict[str, str]:
        """Return what has to stand in a child's environment."""
        path = os.pathsep.join((str(_HERE), str(_SOURCE)))
        return {_VARIABLE: json.dumps(asdict(self)), "PYTHONPATH": path}


class _Points:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._count: Counter[str] = Counter()
        self._turn = threading.Lock()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._passed = os.open(faults.passed, flags, 0o600) if faults.passed else -1

    def reach(self, name: str) -> None:
        with self._turn:
            self._count[name] += 1
            if self._passed >= 0:
                os.write(self._passed, f"{name}\n".encode())
            if name == self._faults.point and self._count[name] == self._faults.nth:
                os.kill(os.getpid(), signal.SIGKILL)


def _hook(faults: Faults, points: _Points) -> Callable[[FileCall, Go], int]:
    trouble = _TROUBLES.get(faults.trouble)

    def look(call: FileCall, go: Go) -> int:
        points.reach(FILE_CALL)
        if not os.path.exists(faults.while_there):
            return go(call)
        if call.kind == "sync":
            points.reach(SYNC_BEGINS)
            time.sleep(faults.sync_s)
            points.reach(SYNC_ENDS)
        if trouble is not None and trouble.strikes(call):
            return trouble.codes[call.kind]
        return go(call)

    return look


def _connection(points: _Points, of: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    class Connection(of):  # type: ignore[valid-type,misc]
        """Reaches a point before and after each statement."""

        def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
            name = " ".join(sql.split()[:3])
            points.reach(f"before {name}")
            found: sqlite3.Cursor = super().execute(sql, *more)
            points.reach(f"after {name}")
            return found

        def close(self) -> None:
            points.reach("before close")
            super().close()
            points.reach("after close")

    return Connection


def install() -> None:
    """Bring the faults that the environment names into this process, for as long as it lives."""
    faults = Faults(**json.loads(os.environ[_VARIABLE]))
    points = _Points(faults)
    shim().lead_to(_hook(faults, points))
    connect = sqlite3.connect

    def connect_with_points(*args: Any, **more: Any) -> sqlite3.Connection:
        made = _connection(points, more.pop("factory", sqlite3.Connection))
        return connect(*args, factory=made, **more)

    sqlite3.connect = connect_with_points  # type: ignore[assignment]
