"""Bytes from a pipe become lines; a line over its limit is skipped to its end in bounded memory.

CR, LF and CRLF end a line, the input's end ends the last one, blank lines do not count, and a byte order
mark may stand before the first. Source: P20.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE_BYTES = 9 * 1024 * 1024
EDGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line over the limit: its whole size, and both its ends (4 KiB each), where its id may be found."""

    size_bytes: int
    limit_bytes: int
    head: bytes
    tail: bytes


class Lines:
    """Cuts a stream of chunks into lines and holds at most one line and one chunk."""

    def __init__(self, limit_bytes: int = MAX_LINE_BYTES) -> None:
        self._limit = limit_bytes
        self._held = bytearray()
        self._head = b""
        self._size = 0
        self._mark = codecs.BOM_UTF8

    def feed(self, chunk: bytes) -> Iterator[bytes | LongLine]:
        """Yield the lines that end in this chunk, without their ends."""
        *ended, rest = chunk.replace(b"\r", b"\n").split(b"\n")
        for piece in ended:
            self._hold(piece)
            yield from self.finish()
        self._hold(rest)

    def finish(self) -> Iterator[bytes | LongLine]:
        """Yield the line held so far, unless it is blank, and begin the next."""
        line, size, head = bytes(self._held), self._size, self._head
        self._held, self._size, self._head = bytearray(), 0, b""
        if size > self._limit:
            yield LongLine(size, self._limit, head, line)
            return
        text = line.removeprefix(self._mark)
        if line:
            self._mark = b""
        if text.strip():
            yield text

    def _hold(self, piece: bytes) -> None:
        self._held += piece
        self._size += len(piece)
        if self._size > self._limit:
            self._head = self._head or bytes(self._held[:EDGE_BYTES])
            del self._held[:-EDGE_BYTES]
