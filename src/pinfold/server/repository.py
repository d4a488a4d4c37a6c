"""The git head and branch of a worktree, read from its files without starting git."""

from __future__ import annotations

import re
from pathlib import Path

from pinfold.server.project import Project

_REFTABLE = "refs/heads/.invalid"
"""What HEAD says where the refs are kept in a table that only git reads."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def head_of(project: Project) -> tuple[str | None, str | None]:
    """Return (commit, branch) of the project's worktree; None where there is none."""
    if project.git_folder is None or project.common_folder is None:
        return None, None
    text = _text(project.git_folder / "HEAD")
    if not text.startswith("ref: "):
        return _commit(text), None
    name = text.removeprefix("ref: ")
    if name == _REFTABLE:
        return None, None
    commit = _commit(_text(project.git_folder / name)) or _commit(_text(project.common_folder / name))
    return commit or _packed(project.common_folder, name), name.removeprefix("refs/heads/")


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace").strip() if file.is_file() else ""  # a pipe would never end
    except (OSError, ValueError):
        return ""


def _commit(text: str) -> str | None:
    return text if _COMMIT.fullmatch(text) else None


def _packed(common: Path, name: str) -> str | None:
    for line in _text(common / "packed-refs").splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return _commit(commit)
    return None
