"""What a command prints: its beginning is shown as it comes, the rest is held back until it is clear how much it is.

A model gets the beginning at once, a short output whole and unchanged, and of a long one never more than it would
read. From `pass_on` on, everything goes through as if we were not there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from pinfold.server.run.kept import Kept, Piece
from pinfold.server.run.ticker import Ticker
from pinfold.server.standard_streams import write_all

_STDOUT, _STDERR = 1, 2
_HEAD_BYTES = 3_000
_HEAD_SHARE = 2
_LONG_BYTES_A_TOKEN = 5
_SHORT_BYTES = 2_000
"""Up to that, output is never long: what would be told in its place can be as long."""


def surely_long_bytes(spill_tokens: int) -> int:
    """Return how many bytes a short output has at most, however few tokens they might be."""
    return max(_SHORT_BYTES, _LONG_BYTES_A_TOKEN * spill_tokens)


class Output:
    """Takes what arrives for our stdout and stderr. `on_long` is called once, before what makes it certainly long.

    Shown at once are the first lines within 3,000 bytes, fewer with a threshold under 6,000 tokens. Thread-safe.
    """

    def __init__(self, kept: Kept, spill_tokens: int, on_long: Callable[[], None]) -> None:
        self.kept = kept
        self.shown_bytes = 0
        self.shown_lines = 0
        self.passes = False
        self.gone: set[int] = set()
        self._spill_tokens = spill_tokens
        self._on_long = on_long
        self._is_showing = True
        self._is_surely_long = False
        self._used: set[int] = set()
        self._open_line: set[int] = set()
        self._ticker = Ticker()
        self._lock = threading.RLock()

    def take(self, fd: int, block: bytes) -> None:
        """Take in what was printed for `fd`."""
        with self._lock:
            self._used.add(fd)
            self._measure(self.kept.total_bytes + len(block))
            if self.passes or not self._keep(fd, block):
                self._write(fd, block)
                return
            if self._is_showing:
                self._show(fd, block)
            if not self._is_showing:
                self._ticker.tick(self.kept.total_bytes)

    def is_long(self) -> bool:
        """Whether all of it has more tokens than the threshold. Loads the tokenizer only where that is in doubt."""
        size = self.kept.total_bytes
        if size <= max(_SHORT_BYTES, self._spill_tokens):  # a token has a byte or more
            return False
        if size > surely_long_bytes(self._spill_tokens):
            return True
        from pinfold.context.estimate import ceiling

        text = b"".join(block for _, block in self.kept.first()).decode("utf-8", "backslashreplace")
        if ceiling(text) <= self._spill_tokens:
            return False
        from pinfold.context.tokens import count

        return count(text) > self._spill_tokens

    def finish(self, report: str | None) -> None:
        """Print unchanged what was held back, or `report` in its place: to stderr only if nothing came for stdout."""
        with self._lock:
            self._ticker.clear()
            if report is None:
                self._show_rest()
            else:
                gap = "\n" if self._main() in self._open_line else ""
                self._write(self._main(), (gap + report).encode("utf-8", "backslashreplace"))

    def pass_on(self, reason: str) -> None:
        """Print what was held back and from now on everything as it comes; say why on stderr. Once."""
        with self._lock:
            if not self.passes:
                self.passes = True
                self._ticker.clear()
                self._show_rest()
                from pinfold.server.notes import note

                lost = self.kept.dropped_bytes
                note(reason + (f"; {lost:,} bytes in its middle are lost" if lost else ""))

    def has_reader(self) -> bool:
        """Whether anybody is left to read a report."""
        return self._main() not in self.gone

    def _main(self) -> int:
        return _STDERR if self._used == {_STDERR} else _STDOUT

    def _measure(self, size_bytes: int) -> None:
        if not self._is_surely_long and size_bytes > surely_long_bytes(self._spill_tokens):
            self._is_surely_long = True
            self._on_long()

    def _keep(self, fd: int, block: bytes) -> bool:
        try:
            self.kept.add(fd, block)
        except OSError as error:
            self.pass_on(f"the output is not kept: {error.strerror}")
            return False
        return True

    def _show(self, fd: int, block: bytes) -> None:
        room = min(_HEAD_BYTES, self._spill_tokens // _HEAD_SHARE) - self.shown_bytes
        part = block if len(block) <= room else block[: _cut(block, room)]
        self._is_showing = len(part) == len(block)
        self._write(fd, part)
        self.shown_bytes += len(part)
        self.shown_lines += part.count(b"\n")

    def _show_rest(self) -> None:
        for fd, block in self._rest():
            self._write(fd, block)

    def _rest(self) -> Iterator[Piece]:
        shown = self.shown_bytes
        for fd, block in self.kept.first():
            if shown < len(block):
                yield fd, block[shown:]
            shown = max(0, shown - len(block))
        yield from self.kept.last()

    def _write(self, fd: int, piece: bytes) -> None:
        if fd in self.gone or not piece:
            return
        (self._open_line.discard if piece.endswith(b"\n") else self._open_line.add)(fd)
        try:
            write_all(fd, piece)
        except OSError:
            self.gone.add(fd)


def _cut(block: bytes, room: int) -> int:
    """Return where to cut a block of more than `room` bytes: behind a line, else between two characters."""
    whole = block.rfind(b"\n", 0, room) + 1
    while not whole and room and block[room] & 0xC0 == 0x80:
        room -= 1
    return whole or room
