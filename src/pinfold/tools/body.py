"""Readable bytes behind a pointer: an artifact in the store or a text in hand, cut and scanned alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from anyio import to_thread

from pinfold.store import Store
from pinfold.store.results import Artifact, ArtifactSlice


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes [start, stop) of a body; `first_line` is the line (from 1) on which `start` lies."""

    content: bytes
    start: int
    first_line: int

    @property
    def stop(self) -> int:
        """The offset behind its last byte."""
        return self.start + len(self.content)


class Body(Protocol):
    """Bytes with a size and lines (a last line without a line end counts)."""

    @property
    def size_bytes(self) -> int:
        """Its size in bytes."""

    @property
    def line_count(self) -> int:
        """Its number of lines."""

    @property
    def is_binary(self) -> bool:
        """Whether it can only be shown as base64."""

    @property
    def is_exact(self) -> bool:
        """Whether all of it is valid UTF-8."""

    async def read(self, start: int, max_bytes: int) -> Piece:
        """Return at most `max_bytes` from offset `start` on."""

    async def read_lines(self, first: int, last: int, max_bytes: int) -> Piece:
        """Return lines `first` to `last`, both included, cut after `max_bytes`."""

    async def scan(self, start: int, visit: Callable[[Piece], bool]) -> None:
        """Call `visit` with consecutive pieces, from `start` or before, until it returns False."""


def _piece(part: ArtifactSlice) -> Piece:
    return Piece(part.content, part.start, part.first_line)


@dataclass(frozen=True, slots=True)
class ArtifactBody:
    """An artifact's bytes, read from the store as they are needed."""

    store: Store
    artifact: Artifact

    @property
    def size_bytes(self) -> int:
        """Its size in bytes."""
        return self.artifact.size_bytes

    @property
    def line_count(self) -> int:
        """Its number of lines."""
        return self.artifact.lines

    @property
    def is_binary(self) -> bool:
        """Whether it is neither text nor mostly text; the token count at spilling was 0 exactly then."""
        return not self.artifact.is_text and self.artifact.outline.tokens == 0

    @property
    def is_exact(self) -> bool:
        """Whether all of it is valid UTF-8 without NUL."""
        return self.artifact.is_text

    async def read(self, start: int, max_bytes: int) -> Piece:
        """Return at most `max_bytes` from offset `start` on."""
        return _piece(await self.store.artifact_bytes(self.artifact.number, start, max_bytes))

    async def read_lines(self, first: int, last: int, max_bytes: int) -> Piece:
        """Return lines `first` to `last`, cut after `max_bytes`."""
        return _piece(await self.store.artifact_lines(self.artifact.number, first, last, max_bytes))

    async def scan(self, start: int, visit: Callable[[Piece], bool]) -> None:
        """Visit the stored chunks from the one that holds `start` on."""
        await self.store.scan_artifact(self.artifact.number, start, lambda part: visit(_piece(part)))


class TextBody:
    """A text in memory, e.g. a message or the result of a JSONPath."""

    is_binary = False
    is_exact = True

    def __init__(self, text: str) -> None:
        self._content = text.encode()
        self.size_bytes = len(self._content)
        self.line_count = _lines(self._content)

    async def read(self, start: int, max_bytes: int) -> Piece:
        """Return at most `max_bytes` from offset `start` on."""
        first_line = self._content.count(b"\n", 0, start) + 1
        return Piece(self._content[start : start + max_bytes], start, first_line)

    async def read_lines(self, first: int, last: int, max_bytes: int) -> Piece:
        """Return lines `first` to `last`, cut after `max_bytes`."""
        start, stop = self._line_starts[first - 1], self._line_starts[min(last, self.line_count)]
        return Piece(self._content[start : min(stop, start + max_bytes)], start, first)

    @cached_property
    def _line_starts(self) -> list[int]:
        """Where each line begins, and where the last one ends."""
        ends = [found.end() for found in re.finditer(b"\n", self._content)]
        return [0, *ends] if self._content.endswith(b"\n") else [0, *ends, self.size_bytes]

    async def scan(self, start: int, visit: Callable[[Piece], bool]) -> None:
        """Visit the whole text as one piece."""
        await to_thread.run_sync(visit, Piece(self._content, 0, 1))


def _lines(content: bytes) -> int:
    return content.count(b"\n") + (1 if content and not content.endswith(b"\n") else 0)
