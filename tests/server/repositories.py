"""Real git repositories for tests, made by git itself without anybody's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_ALONE = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Anna",
    "GIT_AUTHOR_EMAIL": "anna@example.org",
    "GIT_COMMITTER_NAME": "Anna",
    "GIT_COMMITTER_EMAIL": "anna@example.org",
    "GIT_TERMINAL_PROMPT": "0",
}


def git(folder: Path, *args: str) -> str:
    """Run git in a folder and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    outcome = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *args],
        cwd=folder,
        env=environment | _ALONE,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return outcome.stdout.strip()


def make_repository(folder: Path, *, commit: bool = True) -> Path:
    """Make a repository on the branch `main`, with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    if commit:
        (folder / "readme").write_text("first")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message=first")
    return folder
