"""Work that is killed before its Nth step, each time in a process of its own, on a fresh copy of the same files.

A step is one SQL statement on any connection, one portion of pages of a copy, one connect, rename, removal, new folder
or fsync, and the end. `python -m tests.faults.dying ACT SOURCE WORLDS [STEP …]` copies SOURCE to WORLDS/STEP and kills
there; without steps it prints how many there are. A test calls `steps_of` and `killed_at`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE_S = 100
PAGES = 8
"""As small a portion of pages as makes a copy of a small store take several."""

Act = Callable[[Path], None]
_AUDITED = {"os.rename", "os.remove", "os.mkdir", "sqlite3.connect"}


def steps_of(act: str, source: Path, worlds: Path) -> int:
    """Return how many steps an act has on a copy of `source`."""
    return int(json.loads(_run(act, source, worlds)))


def killed_at(act: str, source: Path, worlds: Path, steps: Iterable[int]) -> dict[int, Path]:
    """Kill the act before each of these steps; return the folder that each left, once all were really killed."""
    wanted = list(steps)
    ends = json.loads(_run(act, source, worlds, *wanted))
    assert ends == [-signal.SIGKILL] * len(wanted), dict(zip(wanted, ends, strict=True))
    return {step: worlds / str(step) for step in wanted}


def some_of(steps: int, kills: int | None, seed: int) -> list[int]:
    """Return about as many steps as there are to be kills (None: all), one in each stretch, and the last."""
    stride = 1 if kills is None else max(1, steps // kills)
    draw = random.Random(seed)
    drawn = {min(steps, draw.randrange(first, first + stride)) for first in range(1, steps + 1, stride)}
    return sorted(drawn | {steps})


def _run(act: str, source: Path, worlds: Path, *steps: int) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.dying", act, str(source), str(worlds), *map(str, steps)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def upgrade(folder: Path) -> None:
    """Open an old store."""
    from pinfold.store.sqlite.direct import open_direct

    open_direct(folder, "demo").close()


def backup(folder: Path) -> None:
    """Back a store up."""
    from pinfold.store.sqlite.backing_up import back_up
    from pinfold.store.sqlite.connection import Place

    back_up(Place(folder))


def restore(folder: Path) -> None:
    """Put the file `old.db`, which lies beside the store's database, in its place."""
    from pinfold.store.sqlite.connection import Place
    from pinfold.store.sqlite.restoring import put_back, staged

    with staged(Place(folder), folder / "old.db", "demo") as ready:
        put_back(ready)


def copy(folder: Path) -> None:
    """Copy the store of the folder `source` into that of the folder `copy`."""
    from pinfold.server.commands.copy_report import Wish, copy_report

    copy_report(str(folder / "source"), str(folder / "copy"), Wish(joins=False, looks=False, verifies=False))


def join(folder: Path) -> None:
    """Join the store of the folder `source` to that of the folder `other`, which holds another log."""
    from pinfold.server.commands.copy_report import Wish, copy_report

    copy_report(str(folder / "source"), str(folder / "other"), Wish(joins=True, looks=False, verifies=False))


ACTS: dict[str, Act] = {
    "upgrade": upgrade,
    "backup": backup,
    "restore": restore,
    "copy": copy,
    "join": join,
}


class _Steps:
    """Counts the steps of this process, and kills it before one of them."""

    def __init__(self, last: int | None) -> None:
        self.taken = 0
        self._last = last

    def take(self, *_: object) -> None:
        self.taken += 1
        if self.taken == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def heed(self) -> None:
        """Make everything that counts a step of this object."""
        sys.addaudithook(lambda event, _: self.take() if event in _AUDITED else None)
        connect, fsync = sqlite3.connect, os.fsync

        def traced(*args: Any, **more: Any) -> sqlite3.Connection:
            made = _tracing(self, more.pop("factory", sqlite3.Connection))
            db = connect(*args, factory=made, **more)
            db.set_trace_callback(self.take)
            return db

        def synced(handle: int) -> None:
            self.take()
            fsync(handle)

        sqlite3.connect = traced  # type: ignore[assignment]
        os.fsync = synced  # type: ignore[assignment]


def _tracing(steps: _Steps, kind: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    class Tracing(kind):  # type: ignore[misc, valid-type]
        def backup(self, target: sqlite3.Connection, *, progress: Any = None, **more: Any) -> None:
            def told(*how_far: int) -> None:
                steps.take()
                if progress is not None:
                    progress(*how_far)

            super().backup(target, **more | {"pages": PAGES, "progress": told})

    return Tracing


def _lived(act: Act, folder: Path, last: int | None) -> int:
    """Carry out an act in a child; return its steps, or (negative) what killed it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            steps = _Steps(last)
            steps.heed()
            act(folder)
            steps.take()  # all is done, and nobody has been told
            os.write(write, str(steps.taken).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as told:
        taken = told.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code <= 0, "the act failed by itself; its error stands above"
    return code if code else int(taken)


def main(name: str, source: Path, worlds: Path, steps: list[int]) -> None:
    """Print the steps of a whole run, or how each run ended that was to be killed."""
    act = ACTS[name]
    for module in ("direct", "backing_up", "restoring", "upgrading"):
        __import__(f"pinfold.store.sqlite.{module}")  # once, for all children

    def world(label: str) -> Path:
        return Path(shutil.copytree(source, worlds / label))

    if steps:
        print(json.dumps([_lived(act, world(str(step)), step) for step in steps]))
    else:
        print(json.dumps(_lived(act, world("whole"), None)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), [int(step) for step in sys.argv[4:]])
