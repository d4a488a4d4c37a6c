"""Which project a folder belongs to: one resolver for server, hooks and commands.

The identity is the git common directory, which worktrees and subfolders share; without git, the folder itself. Symbolic links are
resolved, and letter case is folded where the filesystem folds it. Source: design 3, Which session, which project.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_SLUG_CHARS = 40


@dataclass(frozen=True, slots=True)
class Project:
    """One body of work. `root` is the worktree (or folder) in which paths of callers are read."""

    name: str
    identity: str
    root: Path
    git_folder: Path | None = None
    common_folder: Path | None = None

    @property
    def folder_name(self) -> str:
        """The name of its folder in the data directory: readable, and one for each identity."""
        slug = re.sub(r"[^\w.-]+", "-", self.name)[:_SLUG_CHARS].strip("-.") or "project"
        return f"{slug}-{hashlib.sha256(self.identity.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def resolve(start: Path) -> Project:
    """Return the project that `start` (a folder, which need not exist any more) belongs to."""
    place = Path(os.path.realpath(start))
    for folder in (place, *place.parents):
        git_folder = _git_folder(folder)
        if git_folder is not None:
            common = _common_folder(git_folder)
            owner = common.parent if common.name == ".git" else common
            name = owner.name.removesuffix(".git") or owner.name
            return Project(_legible(name), _folded(common), folder, git_folder, common)
    return Project(_legible(place.name) or "root", _folded(place), place)


def _legible(name: str) -> str:
    """Return a folder's name as text; bytes that are no UTF-8, which Python keeps as surrogates, become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _git_folder(folder: Path) -> Path | None:
    """Return the git directory of a worktree that begins at `folder`, or of a bare repository."""
    dot_git = folder / ".git"
    if _is_repository(dot_git):
        return dot_git
    try:
        text = dot_git.read_text("utf-8", "surrogateescape") if dot_git.is_file() else ""
    except OSError:
        return None
    if text.startswith("gitdir:"):
        target = Path(os.path.realpath(folder / text.removeprefix("gitdir:").strip()))
        return target if target.is_dir() else None
    return folder if _is_repository(folder) and folder.name.endswith(".git") else None


def _is_repository(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _common_folder(git_folder: Path) -> Path:
    try:
        relative = (git_folder / "commondir").read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return Path(os.path.realpath(git_folder))
    return Path(os.path.realpath(git_folder / relative))


def _folded(path: Path) -> str:
    """Return one spelling of a path: letter case folded where both cases name the same folder."""
    spelling = os.path.normcase(path)
    other = spelling.swapcase()
    try:
        folds = other != spelling and os.path.samefile(spelling, other)
    except OSError:
        folds = False
    return spelling.casefold() if folds else spelling
