"""Even samples of a stream of unknown length, in bounded memory, and what they say of its nature.

The same bytes give the same samples, however they are cut into blocks.
"""

from __future__ import annotations

from pinfold.context.media import is_binary

SAMPLE_BYTES = 2 * 1024
MOST_SAMPLES = 256
_FIRST_STRIDE = 4 * 1024
_SCATTER = 2_654_435_761


def _place(index: int) -> int:
    """Return the offset of a sample: one per stride, scattered in it so that no period of the content matches."""
    room = _FIRST_STRIDE - SAMPLE_BYTES
    return index * _FIRST_STRIDE + (index * _SCATTER % 2**32 * room >> 32)


class Samples:
    """Keeps between 128 and 255 windows of 2 KiB of a stream, evenly spread (fewer of a stream under 512 KiB)."""

    def __init__(self) -> None:
        self.total_bytes = 0
        self._step = 1
        self._taken: list[bytearray] = []
        self._next = 0

    def feed(self, block: bytes) -> None:
        """Take in the next bytes of the stream."""
        begin = self.total_bytes
        self.total_bytes += len(block)
        self._complete(block)
        while (place := _place(self._next)) < self.total_bytes:
            self._taken.append(bytearray(block[place - begin : place - begin + SAMPLE_BYTES]))
            self._next += self._step
            if len(self._taken) == MOST_SAMPLES:
                self._thin()

    def windows(self) -> list[bytes]:
        """Return the samples in order; none is empty."""
        return [bytes(window) for window in self._taken]

    @property
    def binary(self) -> bool:
        """Whether the stream is binary rather than text, be it with a few broken bytes."""
        return is_binary(self.windows())

    def _complete(self, block: bytes) -> None:
        """Fill up a window that began at the end of the block before."""
        if self._taken:
            window = self._taken[-1]
            window += block[: SAMPLE_BYTES - len(window)]

    def _thin(self) -> None:
        del self._taken[1::2]
        self._step *= 2
        self._next = len(self._taken) * self._step
