"""Lines of a log that report an error or a warning, counted as the log streams by.

One linear-time expression runs over whole blocks; Python touches only the lines it finds. A line that spans
blocks is looked at in its first 64 KiB, and after `MOST_FINDS` finds no more are looked for.
"""

from __future__ import annotations

import re
from itertools import islice

import re2

FIRST = 5
LOOK_BYTES = 64 * 1024
MOST_FINDS = 200_000
"""Bounds the time for a log of nothing but errors to under a second; its count is then a least count."""

_LEVELS = "ERROR|FATAL|CRITICAL|SEVERE|PANIC|WARN|WARNING|FAILED|FAILURE|FAIL"
# Comes first so that "0 FAILED" is found as itself and passed over; no alarm starts with a zero or a capital N.
_NONE = rf"\b(?:0|No|NO) (?:{_LEVELS})\b"
_ALARMS = (
    rf"\b(?:{_LEVELS})\b",
    r"\b(?:[Ee]rror|[Ff]atal|[Ww]arning|[Pp]anic)(?:\[[A-Za-z]+[0-9]+\]| [A-Z]+[0-9]+)?: ?[^ 0\n]",
    r"\b[A-Z][A-Za-z]*(?:Error|Exception|Warning): [^\n]",
    r"\bTraceback \(most recent call last\)",
    r"\bpanicked at\b",
    r"\bException in thread\b",
    r"\bSegmentation fault\b",
    r"\bnpm ERR!",
    r"\blevel\"?[=:] ?\"?(?:error|fatal|warn|warning)\b",
    r"[\[<(](?:error|fatal|warn|warning)[\])>]",
    r"(?m:^not ok\b)",
)
_PATTERN = "|".join((_NONE, *_ALARMS)).encode()
_COLOURS = re.compile(rb"\x1b\[[0-9;:]*m")


class Alarms:
    """Counts the lines of a stream that report an error or a warning; remembers the numbers of the first five.

    `newlines` counts all line ends on the way.
    """

    def __init__(self) -> None:
        self.lines = 0
        self.newlines = 0
        self.first: list[int] = []
        self._finds = 0
        self._pattern = re2.compile(_PATTERN)
        self._rest = b""

    def feed(self, block: bytes) -> None:
        """Take in the next bytes of the stream."""
        begin = block.find(b"\n") + 1
        if not begin:
            self._keep(block)
            return
        self._keep(block[: begin - 1])
        self._scan(self._rest + b"\n", 0, len(self._rest) + 1)
        stop = block.rfind(b"\n") + 1
        self._scan(block, begin, stop)
        self._rest = b""
        self._keep(block[stop:])

    def finish(self) -> None:
        """Look at a last line that has no line end."""
        self._scan(self._rest, 0, len(self._rest))
        self._rest = b""

    def _keep(self, part: bytes) -> None:
        """Add to the line that has not ended yet, as far as it is looked at."""
        self._rest += part[: LOOK_BYTES - len(self._rest)]

    def _scan(self, text: bytes, begin: int, stop: int) -> None:
        """Count in whole lines [begin, stop)."""
        if text.find(b"\x1b", begin, stop) >= 0:  # the `m` that ends a colour would make `mERROR` one word
            text = _COLOURS.sub(b"", text[begin:stop])
            begin, stop = 0, len(text)
        seen = line_end = begin
        finds = self._pattern.finditer(text, begin, stop)
        for found in islice(finds, MOST_FINDS - self._finds):
            self._finds += 1
            start = found.start()
            if start < line_end or text[start] in b"0N":
                continue
            line_end = text.find(b"\n", start, stop) + 1 or stop
            self.lines += 1
            if len(self.first) < FIRST:
                self.newlines += text.count(b"\n", seen, start)
                seen = start
                self.first.append(self.newlines + 1)
        self.newlines += text.count(b"\n", seen, stop)
