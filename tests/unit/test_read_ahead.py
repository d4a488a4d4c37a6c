from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pinfold.context.read_ahead import read_ahead


def _names() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


def test_blocks_come_in_order() -> None:
    blocks = [b"%d" % n for n in range(1_000)]
    assert list(read_ahead(blocks)) == blocks
    assert "pinfold-read-ahead" not in _names()


def test_what_reading_raises_reaches_the_caller_behind_the_blocks_before_it() -> None:
    def blocks() -> Iterator[bytes]:
        yield b"one"
        raise OSError("gone")

    stream = read_ahead(blocks())
    assert next(stream) == b"one"
    with pytest.raises(OSError, match="gone"):
        next(stream)


def test_no_more_than_a_few_blocks_are_read_ahead_and_none_after_the_caller_stopped() -> None:
    taken = 0

    def blocks() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"block"

    stream = read_ahead(blocks())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert taken <= 7
    assert "pinfold-read-ahead" not in _names()
