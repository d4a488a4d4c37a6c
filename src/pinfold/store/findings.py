"""What `pinfold doctor` finds: one line each, with what to do next."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

State = Literal["ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """How one thing stands: `found` says what is, `advice` what to do next, empty where there is nothing to do."""

    state: State
    subject: str
    found: str
    advice: str = ""


def ok(subject: str, found: str, advice: str = "") -> Finding:
    """Return that a thing is as it should be."""
    return Finding("ok", subject, found, advice)


def warn(subject: str, found: str, advice: str) -> Finding:
    """Return that a thing may come to harm, or is not as good as it could be."""
    return Finding("warn", subject, found, advice)


def bad(subject: str, found: str, advice: str) -> Finding:
    """Return that something is lost, open to others or does not work until it is mended."""
    return Finding("bad", subject, found, advice)


def privacy(subject: str, paths: Iterable[Path]) -> Finding:
    """Return whether files and folders are the user's and nobody else's; POSIX. Source: P25."""
    foreign, open_ = [], []
    for path in paths:
        found = path.lstat()
        if hasattr(os, "getuid") and found.st_uid != os.getuid():
            foreign.append(path)
        elif os.name == "posix" and not stat.S_ISLNK(found.st_mode) and found.st_mode & 0o077:
            open_.append(path)
    if foreign:
        return bad(subject, f"{_named(foreign)}: another user's", "Use a store of your own: PINFOLD_HOME.")
    if open_:
        return bad(subject, f"{_named(open_)}: others can get at it", f"chmod -R go= {open_[0].parent}")
    return ok(subject, "only this user can get at the files")


def _named(paths: list[Path]) -> str:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{paths[0]}{more}"


def tree(folder: Path) -> Iterator[Path]:
    """Yield a folder and all that is in it, links as they are; nothing where there is none."""
    if folder.is_dir():
        yield folder
        for where, folders, files in os.walk(folder):
            yield from (Path(where, name) for name in (*folders, *files))
