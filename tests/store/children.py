"""Other processes that a test starts: each ends with the test, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
WAIT_S = 20.0


@contextmanager
def child(script: str, *args: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a script in another Python with pipes; it is killed at the end."""
    running = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    try:
        with running:
            try:
                yield running
            finally:
                running.kill()
    finally:
        running.wait(WAIT_S)


def ended(script: str, *args: str | Path, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a script in another Python to its end; `before` is put in front of the command line."""
    command = [*before, sys.executable, "-c", script, *map(str, args)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=WAIT_S, env=_environment(), check=False
    )


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(SOURCE)}


def line_of(running: subprocess.Popen[str]) -> str:
    """Return the next line a child prints; the test's own time limit bounds the wait."""
    assert running.stdout is not None
    return running.stdout.readline().strip()


def tell(running: subprocess.Popen[str], line: str = "") -> None:
    """Write a line to a child."""
    assert running.stdin is not None
    running.stdin.write(f"{line}\n")
    running.stdin.flush()
