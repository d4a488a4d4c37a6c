"""Names for processes that started this one, the same in all that they started.

None is given twice where the system tells when a process started (Linux); elsewhere it is a number that comes again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_STARTED_AT = 19
"""Place of the start time among the fields behind the name in /proc/PID/stat."""

_MOST_ANCESTORS = 6
_BETWEEN = re.compile(r"(?:ba|da|z|k|fi)?sh|uvx?|pipx|env|python[\d.]*|pinfold")
"""What a client may start a server through; anything else that starts one is the client."""


def name_of(pid: int) -> str:
    """Return a name for a running process: its number, with its start and its namespace where the system tells them."""
    fields = _stat(pid)
    if fields is None:
        return str(pid)
    return f"{pid}:{fields[_STARTED_AT]}:{_namespace()}"


def names_of_ancestors() -> tuple[str, ...]:
    """Return the names of the processes above this one up to the client's, nearest first; where not told, the nearest.

    Not further: an agent may have started another client, whose server is not the outer one's.
    """
    found = [os.getppid()]
    while len(found) < _MOST_ANCESTORS and (fields := _stat(found[-1])):
        if not _BETWEEN.fullmatch(_command(found[-1])) or int(fields[1]) <= 1:
            break
        found.append(int(fields[1]))
    return tuple(map(name_of, found))


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > _STARTED_AT else None


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
