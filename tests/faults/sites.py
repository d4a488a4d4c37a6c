"""What is planted in a real process of pinfold before it begins: Python runs a `sitecustomize.py` on its path first."""

from __future__ import annotations

import os
from pathlib import Path

from tests.faults.lines import SOURCE

CLOCK = """
import datetime, os, time

_real, _real_time = datetime.datetime, time.time

def _off():
    with open(os.environ["CLOCK_IS_OFF_BY"], encoding="ascii") as file:
        return float(file.read())

class Jumping(_real):
    @classmethod
    def now(cls, tz=None):
        return _real.now(tz) + datetime.timedelta(seconds=_off())

datetime.datetime = Jumping
time.time = lambda: _real_time() + _off()
"""
"""The clock of the whole process is off by as many seconds as the file `CLOCK_IS_OFF_BY` says at that moment."""

STOP_IN_COMMIT = """
import os, signal, threading
from pinfold.store.sqlite.pen import Pen

_commit = Pen._commit

def _stop_and_commit(self, db):
    if os.path.exists(os.environ["STOP_IF_THERE"]):
        os.remove(os.environ["STOP_IF_THERE"])
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    _commit(self, db)

Pen._commit = _stop_and_commit
"""
"""The process stops itself just before a commit, the lock in its hand, once the file `STOP_IF_THERE` is there.

The signal goes to the committing thread: any other would let it go on for a moment.
"""


def planted(folder: Path, script: str) -> dict[str, str]:
    """Write the script where only a process with these variables runs it; return them."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(script, "utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)])}
