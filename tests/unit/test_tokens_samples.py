"""Samples are even, bounded and independent of how a stream is cut into blocks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.samples import MOST_SAMPLES, SAMPLE_BYTES, Samples


def fed(content: bytes, cuts: list[int]) -> Samples:
    samples = Samples()
    edges = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts)})
    for start, stop in pairwise(edges):
        samples.feed(content[start:stop])
    return samples


@given(st.integers(0, 60_000), st.lists(st.integers(0, 60_000), max_size=30))
@settings(max_examples=60, deadline=None)
def test_same_bytes_give_same_samples_in_any_blocks(size: int, cuts: list[int]) -> None:
    content = b"".join(b"%06d," % number for number in range(size // 7 + 1))[:size]
    samples = fed(content, cuts)
    assert samples.windows() == fed(content, []).windows()
    assert samples.total_bytes == size
    assert all(window in content for window in samples.windows())


def test_a_long_stream_keeps_a_bounded_even_choice() -> None:
    samples = Samples()
    for megabyte in range(64):
        samples.feed(b"%08d" % megabyte * (1 << 17))
    windows = samples.windows()
    assert MOST_SAMPLES // 2 <= len(windows) < MOST_SAMPLES
    assert {len(window) for window in windows} == {SAMPLE_BYTES}
    assert len({window[:16] for window in windows}) >= 64


def test_a_short_stream_is_its_own_sample() -> None:
    samples = Samples()
    samples.feed(b"short")
    assert samples.windows() == [b"short"]
