"""One line on stderr that says how much has come while nothing is shown; silent unless stderr is a terminal."""

from __future__ import annotations

import os
import time
from contextlib import suppress

_STDERR = 2
_EACH_S = 0.3
_CLEAR = "\r\x1b[K"


class Ticker:
    """Shows a size now and then, always on the same line."""

    def __init__(self) -> None:
        self._is_seen = os.isatty(_STDERR)
        self._next = 0.0
        self._is_shown = False

    def tick(self, size_bytes: int) -> None:
        """Show the size, unless one was shown a moment ago."""
        if self._is_seen and (now := time.monotonic()) >= self._next:
            from pinfold.context.visible import size_text

            self._next = now + _EACH_S
            self._write(f"{_CLEAR}pinfold: {size_text(size_bytes)} so far")

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._is_shown = text != _CLEAR
        with suppress(OSError):
            os.write(_STDERR, text.encode())
