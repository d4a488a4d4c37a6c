"""All that a command printed, in order of arrival and in bounded memory: its beginning, and what it said last.

What is over a few KiB lies in an unnamed file, as it came: nothing has been redacted yet, and nobody else can open it.
"""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

LAST_BYTES = 1024 * 1024
_NEAR_BYTES = 16 * 1024
_FRAME = struct.Struct(">BI")

Piece = tuple[int, bytes]
"""Bytes with the descriptor that they are meant for."""


class Kept:
    """The first `limit_bytes` of an output, and of what lies beyond, the last MiB.

    The first ones end with a line that ends in their last 16 KiB (a sixteenth of a small limit), where there is one,
    however the output came in blocks: half a secret is not known as one.

    Up to `memory_bytes`, which is also the least limit, need no file.
    """

    def __init__(self, memory_bytes: int) -> None:
        self.limit_bytes = memory_bytes
        self.total_bytes = 0
        self.first_bytes = 0
        self.last_bytes = 0
        self._memory_bytes = memory_bytes
        self._memory: list[Piece] = []
        self._file: IO[bytes] | None = None
        self._file_bytes = 0
        self._is_full = False
        self._last: deque[Piece] = deque()

    def add(self, fd: int, block: bytes) -> None:
        """Keep what was printed for `fd`. Raises `OSError`, with nothing of it kept, where there is no room."""
        stop = 0 if self._is_full else self._room(block)
        if stop:
            self._add_first((fd, block[:stop]))
            self._is_full = self.first_bytes > self._nearly_bytes and block[stop - 1 : stop] == b"\n"
        if stop < len(block):
            self._is_full = True
            self._add_last((fd, block[stop:]))
        self.total_bytes += len(block)

    def raise_limit(self, limit_bytes: int) -> None:
        """Keep a longer beginning from now on; what was kept as the last until now belongs to it."""
        self.limit_bytes = max(self.limit_bytes, limit_bytes)
        self._is_full = self.total_bytes > self.limit_bytes
        if not self._is_full:
            self._join()

    @property
    def dropped_bytes(self) -> int:
        """How many bytes between the beginning and the last ones are not kept."""
        return self.total_bytes - self.first_bytes - self.last_bytes

    def first(self) -> Iterator[Piece]:
        """Yield the beginning; can be called again."""
        yield from self._memory
        if self._file is not None:
            self._file.seek(0)
            at = 0
            while at < self._file_bytes:
                fd, size = _FRAME.unpack(self._file.read(_FRAME.size))
                yield fd, self._file.read(size)
                at += _FRAME.size + size

    def last(self) -> Iterator[Piece]:
        """Yield what is kept from beyond the limit."""
        yield from self._last

    def settle(self) -> None:
        """Put both parts together where all of it is within the limit, else cut the last bytes to size.

        That is at a line end where one is near.
        """
        if self.total_bytes <= self.limit_bytes:
            self._join()
        over = self.last_bytes - LAST_BYTES
        if over > 0 or self.dropped_bytes:
            self._drop(self._next_line(max(0, over)))

    def _join(self) -> None:
        with suppress(OSError):  # without room they stay apart
            while self._last:
                self._add_first(self._last[0])
                self.last_bytes -= len(self._last.popleft()[1])

    def _room(self, block: bytes) -> int:
        """Return how much of a block still belongs to the beginning."""
        room = self.limit_bytes - self.first_bytes
        newline = block.find(b"\n", max(0, self._nearly_bytes - self.first_bytes), room)
        return newline + 1 or min(len(block), room)

    @property
    def _nearly_bytes(self) -> int:
        """From where on the first line end ends the beginning."""
        return self.limit_bytes - min(_NEAR_BYTES, self.limit_bytes // 16)

    def _add_first(self, piece: Piece) -> None:
        size = len(piece[1])
        if self._file is None and self.first_bytes + size <= self._memory_bytes:
            self._memory.append(piece)
        else:
            self._write(piece)
        self.first_bytes += size

    def _write(self, piece: Piece) -> None:
        if self._file is None:
            import tempfile  # 10 ms that a short output does not cost

            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - goes with the process
        fd, block = piece
        rest = memoryview(_FRAME.pack(fd, len(block)) + block)
        self._file.seek(self._file_bytes)
        size = len(rest)
        while rest:
            rest = rest[os.write(self._file.fileno(), rest) :]
        self._file_bytes += size

    def _add_last(self, piece: Piece) -> None:
        self._last.append(piece)
        self.last_bytes += len(piece[1])
        while self.last_bytes - len(self._last[0][1]) >= LAST_BYTES:
            self._drop(len(self._last[0][1]))

    def _drop(self, size: int) -> None:
        self.last_bytes -= size
        while size:
            fd, block = self._last.popleft()
            if size < len(block):
                self._last.appendleft((fd, block[size:]))
            size -= min(size, len(block))

    def _next_line(self, place: int) -> int:
        """Return where the first line begins at or soon behind a place in the last bytes; without one, the place."""
        start = 0
        for _, block in self._last:
            newline = block.find(b"\n", max(0, place - 1 - start), max(0, place + _NEAR_BYTES - start))
            if newline >= 0:
                return start + newline + 1
            start += len(block)
        return place
