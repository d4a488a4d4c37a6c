"""The page on a team's server, its blocks by their headings, and a machine of a test's own on which they are run."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "team.md"
FILES = ROOT / "docs" / "team"
UNIT = FILES / "pinfold.service"
PATIENCE_S = 60

_SUDO = """#!/bin/sh
while :; do case "$1" in
    -u) if [ "$2" = postgres ]; then . "$(dirname "$0")/../postgres"; fi; shift 2 ;;
    --preserve-env=*) shift ;;
    *) break ;;
esac; done
exec "$@"
"""
_PINFOLD = '#!/bin/sh\nexec "{python}" -m pinfold "$@"\n'
_SYSTEMCTL = '#!/bin/sh\nexec "{python}" "{script}" "{unit}" "{folder}" "$@"\n'


def blocks(heading: str, kind: str = "sh") -> list[str]:
    """Return the blocks of a section, which begins at a heading of the second level."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S)
    assert section, heading
    return re.findall(rf"^```{kind}\n(.*?)^```$", section[1], re.M | re.S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Machine:
    """What the page calls by name, in a folder: `/var/lib/pinfold`, the server's port, sudo and systemctl."""

    def __init__(self, folder: Path, more: Mapping[str, str] | None = None) -> None:
        """`more` are names on the page, and what they stand for here."""
        self.folder = folder
        self.home, self.backups = folder / "lib", folder / "backups"
        self.port = free_port()
        self._names = {
            "/var/lib/pinfold": str(self.home),
            "/var/backups/pinfold": str(self.backups),
            "/tmp/pinfold-trial": str(folder / "trial"),
            "/etc/pinfold/environment": str(folder / "environment"),
            "docs/team/": f"{FILES}/",
            **(more or {}),
            "127.0.0.1:7463": f"127.0.0.1:{self.port}",
            "https://pinfold.example.com/": f"http://127.0.0.1:{self.port}/",
        }
        self._commands()
        (folder / "project").mkdir()
        self.home.mkdir(mode=0o700)
        self.backups.mkdir()

    def adapted(self, text: str) -> str:
        """Return text of the page with the places of this machine in it."""
        for name, place in self._names.items():
            text = text.replace(name, place)
        return text

    def run(self, block: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a block as a shell does that ends at the first failure; it has to succeed."""
        done = subprocess.run(
            ["sh", "-eu", "-c", self.adapted(block)],
            cwd=self.folder / "project",
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done

    @contextmanager
    def running(self, block: str) -> Iterator[None]:
        """Run a block whose last command serves, until the `with` is left; it has to serve before that."""
        server = subprocess.Popen(
            ["sh", "-eu", "-c", self.adapted(block)],
            cwd=self.folder / "project",
            env=self.environment({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline().startswith("http://127.0.0.1:")
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)
            server.communicate(timeout=PATIENCE_S)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        path = os.pathsep.join((str(self.folder / "bin"), os.environ["PATH"]))
        own = {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "HOME": str(self.home)}
        return {**own, **more}

    def _commands(self) -> None:
        places = {
            "python": sys.executable,
            "script": str(Path(__file__).with_name("unit_control.py")),
            "unit": str(self.folder / "pinfold.service"),
            "folder": str(self.folder),
        }
        (self.folder / "bin").mkdir()
        for name, text in (("sudo", _SUDO), ("pinfold", _PINFOLD), ("systemctl", _SYSTEMCTL)):
            command = self.folder / "bin" / name
            command.write_text(text.format(**places) if name != "sudo" else text)
            command.chmod(0o755)
        unit = self.adapted(UNIT.read_text("utf-8")).replace("/opt/pinfold/bin/pinfold", "pinfold")
        (self.folder / "pinfold.service").write_text(unit)
