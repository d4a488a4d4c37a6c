"""A team's server for tests: a real process on loopback, over real SQLite files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.server.peer import ROOT, environment

TOKEN = "test-token"  # noqa: S105
ENDS_IN_S = 20.0


@dataclass(frozen=True, slots=True)
class Serving:
    """A server at work; `url` is that of a project."""

    running: subprocess.Popen[str]
    port: int

    def url(self, project: str = "demo") -> str:
        return f"http://127.0.0.1:{self.port}/p/{project}"

    def kill(self) -> None:
        """End it as nothing that it can prepare for."""
        self.running.kill()
        self.running.wait(ENDS_IN_S)


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[Serving]:
    """Run a server of all projects in a folder until the end of the block."""
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.remote.bare_server", str(folder), TOKEN, str(port)],
        cwd=ROOT,
        env=environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    with running.stdout:
        try:
            yield Serving(running, int(running.stdout.readline()))
        finally:
            running.kill()
            running.wait(ENDS_IN_S)
