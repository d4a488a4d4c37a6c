from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.server.run.kept import LAST_BYTES, Kept

LIMIT = 2_000
LINE = b"a line of 23 bytes, no\n"
PIECES = st.lists(st.tuples(st.sampled_from((1, 2)), st.binary(min_size=1, max_size=900)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(PIECES)
def test_up_to_the_limit_and_a_little_more_everything_is_kept_for_its_stream(
    pieces: list[tuple[int, bytes]],
) -> None:
    kept = Kept(500)
    kept.raise_limit(LIMIT)
    for fd, block in pieces:
        kept.add(fd, block)
    kept.settle()
    found = [*kept.first(), *kept.last()]
    assert list(kept.first()) == found[: len(list(kept.first()))]
    for stream in (1, 2):
        assert b"".join(block for fd, block in found if fd == stream) == b"".join(
            block for fd, block in pieces if fd == stream
        )
    assert kept.first_bytes <= LIMIT
    assert (kept.total_bytes, kept.dropped_bytes) == (sum(len(block) for _, block in pieces), 0)


@pytest.mark.parametrize("block_bytes", [1, 5, 300, 1_024, 4_097, 65_536])
def test_both_ends_are_whole_lines_wherever_blocks_are_cut(block_bytes: int) -> None:
    printed = (LINE * 200_000)[: 60 * 65_536]
    kept = Kept(LIMIT)
    for start in range(0, len(printed), block_bytes):
        kept.add(1, printed[start : start + block_bytes])
    kept.settle()
    first, last = (b"".join(block for _, block in piece) for piece in (kept.first(), kept.last()))
    assert first == LINE * (LIMIT * 15 // 16 // len(LINE) + 1)
    assert LAST_BYTES - 2 * len(LINE) < len(last) <= LAST_BYTES
    assert last == (LINE * 50_000)[: len(last)]
    assert printed.endswith(last)
    assert (kept.first_bytes, kept.last_bytes) == (len(first), len(last))
    assert kept.dropped_bytes == len(printed) - len(first) - len(last)


def test_a_limit_that_is_raised_takes_in_what_was_beyond_the_lower_one() -> None:
    kept = Kept(LIMIT)
    for _ in range(LIMIT // len(LINE)):
        kept.add(1, LINE)
    assert kept.last_bytes > 0
    kept.raise_limit(LIMIT * 10)
    assert (kept.last_bytes, b"".join(block for _, block in kept.first())) == (0, LINE * (LIMIT // len(LINE)))


def test_one_endless_line_is_kept_to_its_last_byte() -> None:
    kept = Kept(LIMIT)
    for _ in range(2_000):
        kept.add(1, b"x" * 999)
    kept.add(1, b"\n")
    kept.settle()
    assert b"".join(block for _, block in kept.last()) == b"x" * (LAST_BYTES - 1) + b"\n"
