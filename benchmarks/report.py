"""The table, line by line as rows are measured, and runs as JSON that a later run is compared with."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.row import Row, Spread

_WHAT, _VALUE, _FLOOR = 62, 22, 30


def headline(seed: int, *, quick: bool) -> str:
    """Say what kind of run this is, and on what."""
    kind = "quick run; '-' where its sizes are too small to judge" if quick else "full run"
    machine = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores"
    return f"pinfold benchmarks: {kind}; seed {seed}; {machine}, {sys.platform}"


def columns() -> str:
    """Name the columns."""
    value = f"{'measured / budget':>{_VALUE}}"
    return (
        f"{'what':<{_WHAT}} {value}  {'':<4}  {'against':<{_FLOOR}}  min / median / max in ms, ours | floor"
    )


def line(row: Row, before: Mapping[str, float]) -> str:
    """Return a row of the table; with what an earlier run gave, where it has the same row."""
    value = f"{_figure(row.value)} / {_figure(row.budget)} {row.unit}"
    spread = f"{_spread(row.pair.ours)} | {_spread(row.pair.floor)}" if row.pair else ""
    then = f"before: {_figure(before[name_of(row)])} {row.unit}" if name_of(row) in before else ""
    rest = "  ".join(part for part in (spread, row.note, then) if part)
    name = f"{row.group}: {row.what}"
    return f"{name:<{_WHAT}} {value:>{_VALUE}}  {row.verdict:<4}  {row.floor:<{_FLOOR}}  {rest}".rstrip()


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def _spread(spread: Spread) -> str:
    return " / ".join(f"{seconds * 1_000:.3g}" for seconds in (spread.minimum, spread.median, spread.maximum))


def name_of(row: Row) -> str:
    """Return what a row is known by from run to run."""
    return f"{row.group}: {row.what} against {row.floor}"


def save(path: Path, title: str, rows: Sequence[Row]) -> None:
    """Write a run as JSON."""
    found = {
        "run": title,
        "rows": [{"name": name_of(row), "verdict": row.verdict, **asdict(row)} for row in rows],
    }
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def load(path: Path) -> dict[str, float]:
    """Return the values of an earlier run by the names of its rows."""
    return {row["name"]: float(row["value"]) for row in json.loads(path.read_text("utf-8"))["rows"]}
