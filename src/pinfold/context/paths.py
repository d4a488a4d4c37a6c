"""Paths as a conversation writes them: absolute here, relative there, by bare name elsewhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

_SEPARATOR = re.compile(r"[/\\]+")
_ELSEWHERE = re.compile(r"/|~[/\\]|\.\.[/\\]|[A-Za-z]:[\\/]|\\\\")
_HERE = re.compile(r"\A(?:\.[/\\])+(?=.)")
_MOST_TWINS = 20


def merged_paths(forms: Iterable[str]) -> dict[str, str]:
    """Return for each form the spelling that stands for its file.

    Where a file is named both absolutely and relatively, the longest relative form stands for it, and other absolute
    paths below the same folder are told relative to it. A bare name stands for itself only where no path ends in it.
    """
    plain = {form: _HERE.sub("", form) for form in forms}
    root = _root(_by_name(plain.values()).values())
    told = {form: path.removeprefix(root) or path for form, path in plain.items()}
    twins = _by_name(told.values())
    return {form: _longest(path, twins[_name(path)]) for form, path in told.items()}


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the paths of each base name, at most `_MOST_TWINS`."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for path in dict.fromkeys(paths):
        if len(named[_name(path)]) < _MOST_TWINS:
            named[_name(path)].append(path)
    return named


def _name(path: str) -> str:
    return _SEPARATOR.split(path.rstrip("/\\"))[-1].casefold()


def _root(files: Iterable[list[str]]) -> str:
    """Return the folder, with its separator, that most absolute paths have in front of a relative twin; or nothing."""
    votes = Counter(
        path[: -len(tail)]
        for twins in files
        for path in twins
        for tail in twins
        if _ELSEWHERE.match(path) and _SEPARATOR.search(tail) and _ends_in(path, tail)
    )
    return min(votes, key=lambda root: (-votes[root], root), default="")


def _ends_in(path: str, tail: str) -> bool:
    return path.endswith(("/" + tail, "\\" + tail))


def _longest(path: str, twins: list[str]) -> str:
    """Return the longest spelling of a path, a relative one if there is any."""
    same = [path, *(twin for twin in twins if _ends_in(twin, path) or _ends_in(path, twin))]
    relative = [each for each in same if not _ELSEWHERE.match(each)]
    return max(relative or same, key=lambda each: (len(each), each))
