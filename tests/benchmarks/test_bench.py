"""What the rows stand on: histories that a real server can search, and the peak memory of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.bench import PINS, Bench
from benchmarks.groups.brief import run_python
from benchmarks.groups.memory import PEAK
from benchmarks.scale import QUICK
from benchmarks.text import Prose, rare_words

ENTRIES = 60


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(QUICK, tmp_path, seed=5)
    with bench.stack:
        yield bench


def test_a_history_is_made_once_and_holds_what_it_says(bench: Bench) -> None:
    history = bench.history(ENTRIES)
    assert bench.history(ENTRIES) is history
    prose = Prose(5)
    assert history.text_bytes == sum(len(prose.entry(number, ENTRIES).encode()) for number in range(ENTRIES))
    with bench.server(history.place) as server:
        server.greet()
        pins = server.call("fetch_pointer", pointer="pins", max_tokens=20_000)["structuredContent"]
        words = rare_words(7, ENTRIES)
        found = server.call("search_history", query=" ".join(words), limit=50)["structuredContent"]
    assert len(pins["items"]) == PINS
    assert found["tier"] == "exact phrase"
    assert all(any(word in hit["text"] for word in words) for hit in found["hits"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_the_peak_of_a_command_is_written_when_it_has_done_its_work(bench: Bench, tmp_path: Path) -> None:
    history = bench.history(ENTRIES)
    report = tmp_path / "peak"
    printed = run_python(history.place, str(PEAK), str(report), "rebuild")
    assert "rebuilt views and index from" in printed
    assert 10_000_000 < int(report.read_text()) < 300_000_000
