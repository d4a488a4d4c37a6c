"""The lines of a transcript that may still be growing: whole ones only, from any byte offset, in flat memory."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from pinfold.server.transcripts.lenient import parsed
from pinfold.store import Progress

MAX_LINE_BYTES = 32 * 1024 * 1024
_HEAD_BYTES = 1024
_BLOCK_BYTES = 64 * 1024
_FIRST_BYTES = 4 * 1024 * 1024
_PADDING = b"\0 \t\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its ending; it lies at bytes [start, stop) of the file, its ending included."""

    start: int
    stop: int
    content: bytes


@dataclass(slots=True)
class LeftOut:
    """Lines that say nothing to us: how many, and at which byte the first of them begins."""

    count: int = 0
    first: int = 0

    def add(self, start: int) -> None:
        """Count one more, which lies behind the others."""
        self.first = self.first if self.count else start
        self.count += 1


class Lines:
    """The whole lines of a file from byte `offset` on, but for those over 32 MiB, which are `left_out`.

    Blank lines, and the NUL bytes that a power loss leaves, are passed over. A last line without its ending is
    delivered only if it is a JSON object already; else it is torn, and reading ends before it. Memory is bounded
    by the longest line. Offsets of a `.zst` file are those of its contents. Iterating raises `OSError`.
    """

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.left_out = LeftOut()
        self._path = path
        self._offset = offset

    def __iter__(self) -> Iterator[Line]:
        with opened(self._path) as file:
            file.seek(self._offset)
            stop = self._offset
            while True:
                content, length, is_whole = _next_line(file)
                start, stop = stop, stop + length
                if not is_whole and parsed(content) is None:
                    return
                if length > MAX_LINE_BYTES:
                    self.left_out.add(start)
                if content:
                    yield Line(start, stop, content)

    def telling(self, progress: Progress | None) -> Iterator[Line]:
        """Yield the lines; `progress` is told behind each the bytes read, of how many. Raises `OSError`."""
        total = self._path.stat().st_size
        for line in self:
            yield line
            if progress is not None:
                progress(min(line.stop, total), total)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a transcript for reading, unpacked where its client has compressed it.

    Raises `OSError`, for what cannot be unpacked too.
    """
    if path.suffix != ".zst":
        with open(path, "rb", buffering=_BLOCK_BYTES) as file:
            yield file
        return
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    try:
        with zstd.open(path, "rb") as unpacked:
            yield cast(BinaryIO, unpacked)
    except (EOFError, zstd.ZstdError) as damage:
        raise OSError(f"{path} cannot be unpacked: {damage}") from damage


def line_number(path: Path, offset: int) -> int:
    """Return which line begins at an offset, counted from 1. Raises `OSError`."""
    number = 1
    with opened(path) as file:
        while offset > 0 and (block := file.read(min(offset, _BLOCK_BYTES))):
            number += block.count(b"\n")
            offset -= len(block)
    return number


def first_lines(path: Path) -> Iterator[bytes]:
    """Yield lines from the beginning of a file, 4 MiB at most. Raises `OSError`."""
    left = _FIRST_BYTES
    with opened(path) as file:
        while left and (line := file.readline(left)):
            left -= len(line)
            yield line.strip(_PADDING)


def head_digest(path: Path) -> str:
    """Return what tells this file from another one that has taken its place: it stays the same while a file grows.

    It is a digest of the first line, of 1 KiB of it at most; empty as long as there is not that much. Raises
    `OSError`.
    """
    with opened(path) as file:
        head = file.readline(_HEAD_BYTES)
    whole = head.endswith(b"\n") or len(head) == _HEAD_BYTES
    return hashlib.sha256(head).hexdigest()[:32] if whole else ""


def can_resume(path: Path, offset: int, head: str) -> bool:
    """Whether reading can go on at `offset` of the file whose head was `head`: it still is that file and a line
    begins there. If not, it was replaced, cut or rewritten, and is to be read from its beginning.
    """
    if path.suffix == ".zst" or head_digest(path) != head or os.path.getsize(path) < offset:
        return False
    with opened(path) as file:
        file.seek(max(offset - 1, 0))
        around = file.read(2)
    return offset == 0 or b"\n" in around or len(around) == 1


def _next_line(file: BinaryIO) -> tuple[bytes, int, bool]:
    """Return what a line says (nothing if it is over the limit), its length, and whether it has its ending."""
    piece = file.readline(_BLOCK_BYTES)
    pieces, length = [piece], len(piece)
    while len(piece) == _BLOCK_BYTES and not piece.endswith(b"\n"):
        piece = file.readline(_BLOCK_BYTES)
        pieces.append(piece)
        length += len(piece)
        if length > MAX_LINE_BYTES:
            pieces.clear()
    content = b"".join(pieces).strip(_PADDING).rpartition(b"\0")[2]
    return content, length, piece.endswith(b"\n")
