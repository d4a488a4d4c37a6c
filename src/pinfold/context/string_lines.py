"""The brief's strings in play: grouped by folder and kind, each with a pointer that leads to where it stood.

A pointer of its own for each string would take a fifth of the room, and the strings are what the room is for. So an
entry is named only where it holds several strings of a group; the others share the fold's pointer, which lists the
entry of each. Source: design 2 (The brief).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from pinfold.context.strings import Kind, kind_of
from pinfold.context.visible import shorten

MAX_CHARS = 2_000
_HEAD = "In play before it, not in its summary; {} says where"
_LINE_CHARS = 300
_STRING_CHARS = 160
_SHARED_BY = 2
_FOLDER = re.compile(r".*[/\\](?=.)", re.DOTALL)
_AROUND_LABEL = len(": \n")

_Groups = dict[str, list[tuple[str, str]]]


def string_lines(strings: Sequence[tuple[str, str]], fold: str, max_chars: int = MAX_CHARS) -> list[str]:
    """Return as many of the (string, pointer), best first, as `max_chars` hold with headings and line ends.

    `fold` is the pointer of their fold. A line has at most 300 characters and can be read without the others.
    """
    best: list[str] = []
    low, high = 0, len(strings)
    while low < high:
        middle = (low + high + 1) // 2
        lines = [_HEAD.format(fold), *_lines(strings[:middle], fold)]
        if sum(len(line) + 1 for line in lines) <= max_chars:
            low, best = middle, lines
        else:
            high = middle - 1
    return best


def _lines(strings: Sequence[tuple[str, str]], fold: str) -> Iterator[str]:
    for label, members in _grouped(strings).items():
        for spaced in (False, True):
            alike = [member for member in members if (" " in member[0]) is spaced]
            if alike:
                yield from _group_lines(label, alike, ", " if spaced else " ", fold)


def _grouped(strings: Sequence[tuple[str, str]]) -> _Groups:
    """Return strings by folder, paths without one, and the other kinds."""
    folders: _Groups = {}
    others: _Groups = {kind.value: [] for kind in Kind}
    for string, pointer in strings:
        shown = shorten(string, _STRING_CHARS)
        kind = kind_of(shown) or Kind.NAME
        found = _FOLDER.match(shown) if kind is Kind.PATH else None
        group = folders.setdefault(found.group(), []) if found else others[kind.value]
        group.append((shown, pointer))
    others[Kind.PATH.value] += _joined(folders).pop("", [])
    named = {
        folder: [(path[len(folder) :], at) for path, at in folders[folder]] for folder in folders if folder
    }
    return named | {label: members for label, members in others.items() if members}


def _joined(folders: _Groups) -> _Groups:
    """Let the deepest folders first join the one above, where one line for both is shorter."""
    above = {folder: _above(folder) for folder in folders}
    while missing := set(above.values()) - set(above) - {""}:
        above |= {folder: _above(folder) for folder in missing}
    for folder in sorted(above, key=lambda name: (len(name), name), reverse=True):
        members, host = folders.get(folder, []), above[folder]
        longer = len(members) * (len(folder) - len(host))
        if len(members) == 1 or (members and host in folders and longer < len(folder) + _AROUND_LABEL):
            folders[host] = folders.get(host, []) + folders.pop(folder)
    return folders


def _above(folder: str) -> str:
    found = _FOLDER.match(folder[:-1])
    return found.group() if found else ""


def _group_lines(label: str, members: Sequence[tuple[str, str]], between: str, fold: str) -> Iterator[str]:
    """Yield lines such as `src/auth/: token.py redis.py H42, session.py map.py F2`.

    Runs of a shared pointer come first, then what is only said to be in the fold.
    """
    shared = Counter(pointer for _, pointer in members)
    runs: defaultdict[str, list[str]] = defaultdict(list)
    for shown, pointer in sorted(members, key=lambda member: shared[member[1]] < _SHARED_BY):
        runs[pointer if shared[pointer] >= _SHARED_BY else fold].append(shown)
    line, last = f"{label}:", ""
    for pointer, run in runs.items():
        for shown in run:
            more = f"{between}{shown}" if pointer == last else f" {last}, {shown}" if last else f" {shown}"
            if last and len(line) + len(more) + len(pointer) >= _LINE_CHARS:
                yield f"{line} {last}"
                line, more = f"{label}:", f" {shown}"
            line, last = line + more, pointer
    yield f"{line} {last}"
