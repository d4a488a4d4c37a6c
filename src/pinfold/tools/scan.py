"""Finds matches of a regular expression in readable bytes, piece by piece: linear time, bounded memory.

Matching is by line (no match runs over a line end) with RE2. In a line longer than a stored chunk, matches of
up to 4 KiB are found wherever the chunks were cut. Source: design 2 (bounded on any input).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinfold.store.errors import InvalidInputError
from pinfold.tools.body import Body, Piece

if TYPE_CHECKING:
    import re2

AROUND_BYTES = 200
"""How much of a long line is shown on either side of a match."""

_OVERLAP_BYTES = 4 * 1024
_LONG_LINE_BYTES = 600
_PATTERN_MEMORY_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Hit:
    """A match at bytes [start, stop) on a line.

    `resume` is where the search goes on behind what is shown of it; `is_wide`: its line is too long to show.
    """

    start: int
    stop: int
    line: int
    resume: int
    is_wide: bool


def compiled(pattern: str) -> re2._Regexp:
    """Return the pattern, matched line by line; raises `InvalidInputError` for one that RE2 does not read."""
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY_BYTES
    try:
        return re2.compile(f"(?m){pattern}".encode(), options)
    except re2.error as broken:
        cause = broken.args[0] if broken.args else b""
        why = cause.decode("utf-8", "replace").partition(":")[0] if isinstance(cause, bytes) else "unreadable"
        accepted = "RE2 syntax: no look-around, no back references; escape ( [ { . * + ? | with a backslash."
        raise InvalidInputError(f"`match` is no regular expression ({why}).", accepted) from None


async def hits_in(body: Body, pattern: re2._Regexp, begin: int, most: int) -> list[Hit]:
    """Return the first hits from offset `begin` on: one per line, or one per window of a long line."""
    scanner = _Scanner(pattern, begin, most)
    await body.scan(begin, scanner.visit)
    scanner.finish(body)
    return scanner.hits


@dataclass(slots=True)
class _Buffer:
    """Consecutive bytes; `first` to `last` are to be searched, what lies around them is only looked at."""

    content: bytes
    base: int
    line: int
    first: int
    last: int
    begins_line: bool


@dataclass(slots=True)
class _Scanner:
    """Collects hits; a piece that ends within a line lends its end to the next, so no cut hides a match."""

    pattern: re2._Regexp
    begin: int
    most: int
    hits: list[Hit] = field(default_factory=list)
    stop: int = 0
    _carry: bytes = b""
    _carry_line: int = 1
    _begins_line: bool = False

    def visit(self, piece: Piece) -> bool:
        """Search one piece; False when enough hits are found."""
        content = self._carry + piece.content
        base = piece.stop - len(content)
        ends_line = piece.content.endswith(b"\n")
        line = piece.first_line - self._carry.count(b"\n")
        # One byte is held back within a line: `$` and `\b` need to see what follows.
        last = len(content) if ends_line else len(content) - 1
        first = 1 if self._carry else 0
        begins_line = base == 0 or self._begins_line
        self._search(_Buffer(content, base, line, max(first, self.begin - base), last, begins_line))
        self._keep(content, line, ends_line=ends_line)
        self.stop = piece.stop
        return len(self.hits) < self.most

    def _keep(self, content: bytes, line: int, *, ends_line: bool) -> None:
        self._begins_line = ends_line
        self._carry = b"" if ends_line else content[-_OVERLAP_BYTES - 1 :]
        self._carry_line = line + content.count(b"\n", 0, len(content) - len(self._carry))

    def finish(self, body: Body) -> None:
        """Search the end that was held back, once the body's end is reached."""
        if not self._carry or self.stop < body.size_bytes or len(self.hits) >= self.most:
            return
        base = self.stop - len(self._carry)
        first = max(1 if base else 0, self.begin - base)
        self._search(_Buffer(self._carry, base, self._carry_line, first, len(self._carry), base == 0))

    def _search(self, buffer: _Buffer) -> None:
        line, counted_to = buffer.line, 0
        for found in self.pattern.finditer(buffer.content, buffer.first, buffer.last):
            start, stop = found.span()
            if self._is_seen(buffer, start):
                continue
            line += buffer.content.count(b"\n", counted_to, start)
            counted_to = start
            self.hits.append(_hit(buffer, start, stop, line))
            if len(self.hits) >= self.most:
                return

    def _is_seen(self, buffer: _Buffer, start: int) -> bool:
        """Whether a match belongs to a hit already kept, or stands behind the last line end, on no line."""
        begins_nothing = start == len(buffer.content) and buffer.content.endswith(b"\n")
        return begins_nothing or bool(self.hits and buffer.base + start < self.hits[-1].resume)


def _hit(buffer: _Buffer, start: int, stop: int, line: int) -> Hit:
    line_start = buffer.content.rfind(b"\n", 0, start) + 1
    newline = buffer.content.find(b"\n", stop)
    line_stop = newline + 1 if newline >= 0 else len(buffer.content)
    is_wide = line_stop - line_start > _LONG_LINE_BYTES or (line_start == 0 and not buffer.begins_line)
    resume = min(line_stop, max(stop, start + AROUND_BYTES)) if is_wide else line_stop
    return Hit(buffer.base + start, buffer.base + stop, line, buffer.base + resume, is_wide)
