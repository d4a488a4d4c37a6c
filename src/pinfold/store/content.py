"""Bytes on their way into the store: cut into chunks, compressed and digested once, whatever their size.

`collect` reads a stream of blocks and keeps at most `SPOOL_BYTES` of packed chunks in memory; the rest goes
to an unnamed temporary file. Sources: design 1 (artifacts), P9, P29.
"""

from __future__ import annotations

import codecs
import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from pinfold.store.errors import FULL, DamagedError, NoSpaceError, TooLargeError
from pinfold.store.values import MAX_ARTIFACT_BYTES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK_BYTES = 64 * 1024
SPOOL_BYTES = 4 * 1024 * 1024
_LEVEL = 1  # packs logs as well as 3 does, and text and code within a tenth
_WORTH_IT = 0.95


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of at most 64 KiB: where it starts, how many line ends stand before it, its packed bytes."""

    start: int
    lines_before: int
    size_bytes: int
    sha256: bytes
    codec: str
    packed: bytes

    def unpack(self, what: str) -> bytes:
        """Return the original bytes; raises `DamagedError` about `what` when their digest is another."""
        try:
            content = self.packed if self.codec == "raw" else _decompress(self.packed, self.size_bytes)
        except zstd.ZstdError:
            raise DamagedError(what) from None
        if hashlib.sha256(content).digest() != self.sha256:
            raise DamagedError(what)
        return content


def _decompress(packed: bytes, size_bytes: int) -> bytes:
    """Unpack at most a chunk's worth of bytes, whatever the frame or its row claims (P29)."""
    most = min(max(size_bytes, 0), CHUNK_BYTES)
    return zstd.ZstdDecompressor().decompress(packed, max_length=most + 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a packed chunk lies in the spool."""

    start: int
    lines_before: int
    size_bytes: int
    sha256: bytes
    codec: str
    packed_bytes: int


class Content:
    """Digested, packed bytes, ready to be stored. `lines` counts a last line without a line end too."""

    def __init__(self, spool: IO[bytes], places: list[_Place], totals: Totals) -> None:
        self._spool = spool
        self._places = places
        self.sha256 = totals.digest.digest()
        self.size_bytes = totals.size_bytes
        self.is_text = totals.is_text
        self.lines = totals.lines

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield where each chunk starts and its size in bytes, in order; reads nothing."""
        return ((place.start, place.size_bytes) for place in self._places)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks in order; can be called again."""
        self._spool.seek(0)
        for place in self._places:
            yield Chunk(
                place.start,
                place.lines_before,
                place.size_bytes,
                place.sha256,
                place.codec,
                self._spool.read(place.packed_bytes),
            )

    def close(self) -> None:
        """Let go of the spool."""
        self._spool.close()


class Totals:
    """What is known of the whole once all blocks have passed."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.size_bytes = 0
        self.newlines = 0
        self.is_text = True
        self.ends_line = False
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    @property
    def lines(self) -> int:
        """How many lines have passed; a last one without a line end counts too."""
        return self.newlines + (1 if self.size_bytes and not self.ends_line else 0)

    def add(self, piece: bytes) -> None:
        """Let the next piece pass."""
        self.digest.update(piece)
        self.size_bytes += len(piece)
        self.newlines += piece.count(b"\n")
        self.ends_line = piece.endswith(b"\n")
        if self.is_text:
            self.is_text = b"\0" not in piece and self._decodes(piece)

    def _decodes(self, piece: bytes, *, final: bool = False) -> bool:
        try:
            self._decoder.decode(piece, final)
        except UnicodeDecodeError:
            return False
        return True

    def finish(self) -> None:
        """Say that all has passed."""
        if self.is_text:
            self.is_text = self._decodes(b"", final=True)


def _cuts(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream into chunks of at most `CHUNK_BYTES`, behind the last line end where there is one."""
    rest = b""
    for block in blocks:
        rest = rest + block if rest else block
        start = 0
        while len(rest) - start >= CHUNK_BYTES:
            window_end = start + CHUNK_BYTES
            newline = rest.rfind(b"\n", start, window_end)
            stop = window_end if newline < 0 else newline + 1
            yield rest[start:stop]
            start = stop
        rest = rest[start:]
    if rest:
        yield rest


def _spool(spool: IO[bytes], packed: bytes) -> None:
    try:
        spool.write(packed)
    except OSError as error:
        if error.errno in FULL:
            import tempfile

            raise NoSpaceError(tempfile.gettempdir()) from error
        raise


def collect(blocks: Iterable[bytes], max_bytes: int = MAX_ARTIFACT_BYTES) -> Content:
    """Read all blocks and return them as `Content`, which the caller closes.

    Raises `TooLargeError` as soon as more than `max_bytes` have come, and whatever the blocks raise.
    """
    import tempfile  # who only opens a store, as hooks do, shall not wait for it

    spool = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115 - Content closes it
    packer = zstd.ZstdCompressor(level=_LEVEL)
    totals = Totals()
    places: list[_Place] = []
    try:
        for piece in _cuts(blocks):
            start, lines_before = totals.size_bytes, totals.newlines
            totals.add(piece)
            if totals.size_bytes > max_bytes:
                hint = "Spill a part of it, or raise PINFOLD_MAX_ARTIFACT_BYTES."
                raise TooLargeError("The content", totals.size_bytes, max_bytes, unit="bytes", hint=hint)
            packed = packer.compress(piece, mode=zstd.ZstdCompressor.FLUSH_FRAME)
            codec = "zstd" if len(packed) < _WORTH_IT * len(piece) else "raw"
            if codec == "raw":
                packed = piece
            _spool(spool, packed)
            digest = hashlib.sha256(piece).digest()
            places.append(_Place(start, lines_before, len(piece), digest, codec, len(packed)))
        totals.finish()
    except BaseException:
        spool.close()
        raise
    return Content(spool, places, totals)
