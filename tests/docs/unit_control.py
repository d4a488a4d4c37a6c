"""Starts and stops what a systemd unit says, as far as a test needs it: `unit_control.py UNIT FOLDER VERB NAME`."""

from __future__ import annotations

import configparser
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_PATIENCE_S = 30


def main(unit: Path, folder: Path, verb: str) -> None:
    """Start the service and wait until it serves, or stop it and wait until it is gone."""
    if verb == "start":
        _start(unit, folder)
    else:
        _stop(int((folder / "pid").read_text()))


def _start(unit: Path, folder: Path) -> None:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment, method-assign] # names as they are written
    read.read_string(unit.read_text("utf-8"))
    if not Path(read["Unit"]["AssertPathExists"]).exists():
        raise SystemExit("Assertion failed.")
    given = Path(read["Service"]["EnvironmentFile"].removeprefix("-"))
    lines = [read["Service"]["Environment"], *(given.read_text().split() if given.exists() else ())]
    said = folder / "said"
    with said.open("w") as out:
        server = subprocess.Popen(
            shlex.split(read["Service"]["ExecStart"]),
            cwd=read["Service"]["WorkingDirectory"],
            env={**os.environ, **dict(line.split("=", 1) for line in lines)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    (folder / "pid").write_text(str(server.pid))
    _wait(lambda: "Ctrl-C ends." in said.read_text() or server.poll() is not None)
    if server.poll() is not None:
        raise SystemExit(said.read_text())
    server.returncode = 0  # it outlives this process


def _stop(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)
    _wait(lambda: not _is_there(pid))


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return _state(pid) != "Z"


def _state(pid: int) -> str:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()[:1]


def _wait(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while not is_so():
        if time.monotonic() > ends:
            raise SystemExit("Waited too long.")
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
