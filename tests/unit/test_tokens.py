"""Counting is exact, takes any text, and stays bounded on streams."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pinfold.context import tokens, vocabulary
from pinfold.context.tokens import EXACT_BYTES, WINDOW_CHARS, Gauge, count, count_async

ENCODING = vocabulary.load()
PROSE = (
    "The token's store, in Redis: 15 minute TTL (900 s) - see /srv/app/tok_1.py\n\n\tif x:\n  //why /n\r\n"
)


def whole(text: str) -> int:
    return len(ENCODING.encode_ordinary(text))


def gauge(content: bytes, block_bytes: int = 1 << 20) -> tuple[int, bool]:
    measured = Gauge()
    for start in range(0, len(content), block_bytes):
        measured.feed(content[start : start + block_bytes])
    return measured.result()


def log_lines(amount: int) -> bytes:
    rng = random.Random(7)
    return b"".join(
        b"2026-01-%02d 12:%02d:07,%03d INFO worker-%d request id=%016x took %d ms\n"
        % (n % 28 + 1, n % 60, n % 1000, n % 16, rng.getrandbits(64), n % 977)
        for n in range(amount)
    )


def test_a_short_text_has_its_known_count() -> None:
    assert count("tiktoken is great!") == 6
    assert count("") == 0


def test_text_that_spells_a_special_token_is_plain_text() -> None:
    assert count("<|endoftext|>") == 7


def test_a_long_text_counts_as_if_it_were_one_window() -> None:
    text = PROSE * 2_000
    assert len(text) > 10 * WINDOW_CHARS
    assert count(text) == whole(text)


@given(
    st.lists(
        st.sampled_from([*" \n\r\t/ax1.'é刷🎉\u3000\x1c\u0085", "'s", "  ", "\r\n", "Word", "123"]),
        max_size=400,
    )
)
@example(["\n", "/", "\n", " ", "a"] * 50)
@settings(max_examples=200, deadline=None)
def test_cuts_never_change_the_count(pieces: list[str]) -> None:
    text = "".join(pieces)
    for found in tokens._SAFE_CUT.finditer(text):
        cut = found.start()
        assert whole(text[:cut]) + whole(text[cut:]) == whole(text)


@pytest.mark.parametrize("character", [" ", "\t", "\u3000", "\n", "^"])
def test_a_million_equal_characters_are_counted(character: str) -> None:
    assert 0 < count(character * 1_000_000) <= 250_000


def test_a_megabyte_of_one_letter_is_off_by_four_per_window_at_most() -> None:
    text = "a" * 1_000_000
    assert abs(count(text) - whole(text)) <= 4 * (len(text) // WINDOW_CHARS + 1)


@pytest.mark.full
def test_ten_megabytes_of_one_letter_are_counted() -> None:
    assert count("a" * 10_000_000) == 1_250_000


def test_a_lone_surrogate_is_counted() -> None:
    assert count("x\ud800y") > 0


def test_counting_on_the_event_loop_gives_the_same() -> None:
    assert asyncio.run(count_async(PROSE)) == whole(PROSE)


def test_importing_loads_no_tokenizer() -> None:
    code = "import sys, pinfold.context.tokens; print('tiktoken' in sys.modules, 'anyio' in sys.modules)"
    source = Path(tokens.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        env={"PYTHONPATH": str(source)},
    )
    assert (done.stdout, done.returncode) == ("False False\n", 0), done.stderr


def test_first_use_from_many_threads_loads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    together = threading.Barrier(4)

    def load() -> object:
        loads.append(threading.get_ident())
        return ENCODING

    def first_use() -> None:
        together.wait(timeout=5)
        assert count("a b") == 2

    monkeypatch.setattr(tokens, "_encoding", None)
    monkeypatch.setattr(vocabulary, "load", load)
    threads = [threading.Thread(target=first_use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert len(loads) == 1


def test_a_stream_up_to_the_limit_is_counted_exactly_whatever_its_blocks() -> None:
    content = (PROSE * 3_000 + "刷新令牌" * 500).encode()
    assert gauge(content, 997) == gauge(content) == (count(content.decode()), False)


def test_a_stream_beyond_the_limit_is_estimated_within_three_percent() -> None:
    content = log_lines(60_000)
    assert len(content) > EXACT_BYTES
    measured, estimated = gauge(content)
    assert estimated
    assert measured == pytest.approx(count(content.decode()), rel=0.03)


def test_an_estimate_does_not_depend_on_the_blocks() -> None:
    content = log_lines(60_000)
    assert gauge(content, 65_536) == gauge(content, 100_003)


def test_a_hundred_megabytes_cost_what_their_samples_cost() -> None:
    block = log_lines(12_000)[: 1 << 20]
    count("loaded")
    measured = Gauge()
    began = time.thread_time()
    for _ in range(100):
        measured.feed(block)
    tokens_found, estimated = measured.result()
    assert time.thread_time() - began < 0.3
    assert estimated
    assert tokens_found == pytest.approx(100 * count(block.decode()), rel=0.03)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n" + b"text" * 100,
        bytes(range(256)) * 64,
        b"\0" * 5_000_000,
        b"\x7fELF" + b"a" * 5_000_000,
    ],
    ids=["png", "all-bytes", "zeros", "elf"],
)
def test_binary_content_counts_as_nothing(content: bytes) -> None:
    assert gauge(content) == (0, False)


def test_text_with_a_few_broken_bytes_counts_them_as_escapes() -> None:
    assert gauge(b"caf\xe9 " + b"plain words " * 20) == (count("caf\\xe9 " + "plain words " * 20), False)


def test_nothing_fed_is_nothing() -> None:
    assert Gauge().result() == (0, False)
