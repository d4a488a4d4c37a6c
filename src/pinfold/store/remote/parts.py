"""Bytes of artifacts beside the text of a request: the text says where each begins, and how long it is.

A request is one line of JSON and, behind it, the bytes of all `Content` in it, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from pydantic import SerializationInfo, ValidationInfo

from pinfold.store.content import Content, collect
from pinfold.store.errors import InvalidInputError
from pinfold.store.redaction import Redactor
from pinfold.store.values import MAX_ARTIFACT_BYTES

_BLOCK_BYTES = 256 * 1024


class Outgoing:
    """The contents of a request in the order in which its text names them."""

    def __init__(self) -> None:
        self._contents: list[Content] = []
        self.size_bytes = 0

    def add(self, content: Content) -> dict[str, int]:
        """Return where a content will be, and how long it is."""
        where = {"start": self.size_bytes, "size_bytes": content.size_bytes}
        self._contents.append(content)
        self.size_bytes += content.size_bytes
        return where

    def blocks(self) -> Iterator[bytes]:
        """Yield all bytes, in order."""
        for content in self._contents:
            for chunk in content.chunks():
                yield chunk.unpack("what is to be sent")


class Incoming:
    """The bytes of a request that has come; whoever takes contents closes them all."""

    def __init__(self, file: IO[bytes], redactor: Redactor | None) -> None:
        self._file = file
        self._redactor = redactor
        self._start = 0
        self._taken: list[Content] = []

    def begin(self, start: int) -> None:
        """Say where in the file the bytes begin."""
        self._start = start

    def take(self, start: int, size_bytes: int) -> Content:
        """Return the content at a place, without its secrets; where there is no redactor, byte for byte.

        Raises `InvalidInputError` for a request cut short.
        """
        self._file.seek(self._start + start)
        blocks = self._blocks(size_bytes)
        clean = blocks if self._redactor is None else self._redactor.stream(blocks)
        content = collect(clean, 2 * MAX_ARTIFACT_BYTES)
        self._taken.append(content)
        return content

    def _blocks(self, size_bytes: int) -> Iterator[bytes]:
        left = size_bytes
        while left:
            block = self._file.read(min(left, _BLOCK_BYTES))
            if not block:
                raise InvalidInputError("The request was cut off.", "Send it again.")
            left -= len(block)
            yield block

    def close(self) -> None:
        """Let go of every content that was taken."""
        for content in self._taken:
            content.close()


def described(content: Content, info: SerializationInfo[Outgoing]) -> dict[str, int]:
    """Return what a request's text says of a content; its bytes go behind the text."""
    assert info.context is not None
    return info.context.add(content)


def received(value: Any, info: ValidationInfo[Incoming]) -> Content:
    """Return the content that a request's text speaks of. Raises `InvalidInputError`."""
    assert info.context is not None
    match value:
        case {"start": int(start), "size_bytes": int(size)} if start >= 0 and 0 <= size <= MAX_ARTIFACT_BYTES:
            return info.context.take(start, size)
    raise InvalidInputError(
        "A content has no place in the request.", "Send where it begins and how long it is."
    )
