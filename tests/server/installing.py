"""A user with a home and a project of their own, who runs `pinfold install` in it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pinfold.server.cli import main

COMMAND = "/opt/pin fold/bin/pinfold"


def guarded(call: str) -> str:
    """Return the hook that calls the installed command if it is there, and always succeeds."""
    return f"[ -x '{COMMAND}' ] && '{COMMAND}' {call} || :"


@dataclass(frozen=True, slots=True)
class User:
    """`run` is the real command line in this process, with nothing of the caller's environment but PATH."""

    home: Path
    project: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> Result:
        cleared = {name: None for name in os.environ if name != "PATH"}
        runner = CliRunner(env={**cleared, "HOME": str(self.home), **self.environment})
        return runner.invoke(main, arguments)

    def well(self, *arguments: str) -> dict[str, Any]:
        """Run a command that has to end well; return its JSON."""
        done = self.run(*arguments, "--json")
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert isinstance(told, dict)
        return told

    def files(self) -> dict[str, bytes]:
        """Return every file of home and project but pinfold's own, by its path."""
        kept = self.home / ".local" / "share" / "pinfold"
        found = [path for root in (self.home, self.project) for path in root.rglob("*")]
        return {
            str(path.relative_to(self.home.parent)): path.read_bytes()
            for path in found
            if path.is_file() and kept not in path.parents
        }


def begin_user(root: Path, monkeypatch: pytest.MonkeyPatch, **environment: str) -> User:
    """Make the folders, go into the project, and let the installed command lie in a folder with a blank."""
    user = User(root / "home", root / "project", environment)
    for folder in (user.home, user.project):
        folder.mkdir()
    monkeypatch.chdir(user.project)
    monkeypatch.setattr("pinfold.server.install.place._command", lambda: (COMMAND,))
    return user
