"""Runs on paper and exit statuses: what a reader, and a pipeline, learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import report
from benchmarks.bench import Bench
from benchmarks.client import PeerError
from benchmarks.row import Pair, Row, SkippedError, Spread

KEPT = Row("call", "a read", "a no-op", 1.2, 1.5)
MISSED = Row("call", "a write", "an insert", 2.5, 2.0)


def _groups(*rows: Row, error: Exception | None = None) -> dict[str, Callable[[Bench], Iterator[Row]]]:
    def measured(_: Bench) -> Iterator[Row]:
        yield from rows
        if error is not None:
            raise error

    return {"first": measured, "second": lambda _: iter([KEPT])}


@pytest.mark.parametrize(
    ("rows", "arguments", "status"),
    [([KEPT], [], 0), ([KEPT, MISSED], [], 1), ([MISSED], ["--quick"], 0)],
)
def test_only_a_full_run_that_missed_a_budget_fails(
    rows: list[Row], arguments: list[str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "GROUPS", _groups(*rows))
    assert command.main(arguments) == status


def test_a_group_that_fails_takes_no_other_with_it_and_fails_even_a_quick_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "GROUPS", _groups(error=PeerError("the server ended")))
    assert command.main(["--quick"]) == 1
    printed = capsys.readouterr().out
    assert "first: failed, PeerError: the server ended" in printed
    assert "1 rows, 0 over budget, 1 groups failed" in printed


def test_a_group_that_cannot_be_measured_here_is_named_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "GROUPS", _groups(error=SkippedError("no /proc")))
    assert command.main([]) == 0
    assert "first: left out, no /proc" in capsys.readouterr().out


def test_a_later_run_shows_the_values_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "run.json")
    monkeypatch.setattr(command, "GROUPS", _groups(MISSED))
    assert command.main(["--quick", "--json", file]) == 0
    faster = Row("call", "a write", "an insert", 1.75, 2.0)
    monkeypatch.setattr(command, "GROUPS", _groups(faster))
    capsys.readouterr()
    assert command.main(["--compare", file, "--only", "first"]) == 0
    printed = capsys.readouterr().out
    assert "1.75 / 2 x  ok    an insert" in printed
    assert "before: 2.50 x" in printed


def test_a_row_shows_value_budget_verdict_floor_and_both_spreads() -> None:
    pair = Pair(Spread(3, 0.001, 0.002, 0.004, 0.004), Spread(3, 0.001, 0.001, 0.0011, 0.0011))
    row = Row("call", "a read", "a no-op", pair.ratio, 1.5, pair=pair, note="warm")
    words = report.line(row, {}).split()
    assert " ".join(words) == "call: a read 2 / 1.50 x over a no-op 1 / 2 / 4 | 1 / 1 / 1.1 warm"
