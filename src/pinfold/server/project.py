"""Which project a folder belongs to: one resolver for server, hooks and commands.

The identity is the git common directory, which worktrees and subfolders share; without git, the folder
itself. Symbolic links are resolved, and letter case is folded where the filesystem folds it. Source: design
3, Which session, which project.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_SLUG_CHARS = 40
_LEAST_SECRET_CHARS = 12


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
        slug = re.sub(r"[^\w.-]+", "-", self.name.casefold())[:_SLUG_CHARS].strip("-.") or "project"
        return f"{slug}-{hashlib.sha256(self.identity.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def resolve(start: Path) -> Project:
    """Return the project that `start` (a folder, which need not exist any more) belongs to."""
    place = Path(os.path.realpath(start))
    for folder in (place, *place.parents):
        git_folder = _git_folder(folder)
        if git_folder is not None:
            common = _common_folder(git_folder)
            owner = common.parent if common.name.startswith(".") else common
            name = owner.name.removesuffix(".git") or owner.name
            return Project(_named(name, common), _folded(common), folder, git_folder, common)
    return Project(_named(place.name, place) or "root", _folded(place), place)


def _named(name: str, place: Path) -> str:
    """Return a folder's name as the project's: legible, and without a known secret shape. Source: P24."""
    legible = _legible(name)
    if len(legible) < _LEAST_SECRET_CHARS:
        return legible
    from pinfold.store.redaction import Redactor  # a few ms that most names need not cost

    return Redactor(os.fsencode(place)).text(legible).text


def _legible(name: str) -> str:
    """Return a folder's name as text; bytes that are no UTF-8, which Python keeps as surrogates, become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _git_folder(folder: Path) -> Path | None:
    """Return the git directory of a worktree that begins at `folder`, or of a bare repository."""
    dot_git = folder / ".git"
    if _is_repository(dot_git):
        return dot_git
    if os.path.isfile(dot_git):
        return _linked_folder(dot_git)
    return folder if _is_repository(folder) else None


def _linked_folder(dot_git: Path) -> Path | None:
    """Return the git directory that a `.git` file names.

    Where it was pruned while the worktree's folder stayed, its repository still is the one above it.
    """
    try:
        text = dot_git.read_text("utf-8", "surrogateescape")
        target = Path(os.path.realpath(dot_git.parent / text.removeprefix("gitdir:").strip()))
    except (OSError, ValueError):
        return None
    if not text.startswith("gitdir:"):
        return None
    if os.path.isdir(target):
        return target
    repository = target.parent.parent
    return repository if target.parent.name == "worktrees" and _is_repository(repository) else None


def _is_repository(folder: Path) -> bool:
    """Whether git would take a folder for a git directory; one that cannot be looked into is none."""
    return os.path.isfile(folder / "HEAD") and all(
        os.path.isdir(folder / name) for name in ("objects", "refs")
    )


def _common_folder(git_folder: Path) -> Path:
    try:
        relative = (git_folder / "commondir").read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return Path(os.path.realpath(git_folder))
    return Path(os.path.realpath(git_folder / relative))


def _folded(path: Path) -> str:
    """Return one spelling of a path: letter case folded where both cases name the same folder."""
    spelling = os.path.normcase(path)
    other = "".join(letter.swapcase() if letter.isascii() else letter for letter in spelling)
    try:
        folds = other != spelling and os.path.samefile(spelling, other)
    except OSError:
        folds = False
    return spelling.casefold() if folds else spelling
