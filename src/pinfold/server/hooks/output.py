"""A tool's output as a hook sees it, whichever client ran the tool."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool printed. `label` says what was run; `tokens` is the client's own count, where it gives one.

    `path` is a file with all of it, where `text` is only a part. `is_cut`: the client has no more than this.
    """

    tool: str
    label: str
    text: str
    tokens: int | None = None
    path: Path | None = None
    is_cut: bool = False

    def blocks(self) -> Iterator[bytes]:
        """Yield all of it, from the file if that can be read."""
        handle = None if self.path is None else _regular(self.path)
        if handle is None:
            yield self.text.encode("utf-8", "replace")
            return
        with os.fdopen(handle, "rb") as file:
            while block := file.read(_BLOCK_BYTES):
                yield block


def _regular(path: Path) -> int | None:
    """Open a file that is one; a pipe or a device would never end."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None
