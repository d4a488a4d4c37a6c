"""Measure and print: `python -m benchmarks [--quick] [--only NAME]… [--json FILE] [--compare FILE]`.

Exit status 1 when a full run missed a budget, or when something could not be measured at all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.bench import Bench
from benchmarks.client import PeerError
from benchmarks.groups import (
    artifacts,
    brief,
    database,
    disk,
    hooks,
    http,
    imports,
    memory,
    search,
    start,
    tokens,
    writers,
)
from benchmarks.row import Row, SkippedError
from benchmarks.scale import FULL, QUICK

SEED = 20_260_314
GROUPS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "start": start.rows,
    "http": http.rows,
    "tokens": tokens.rows,
    "artifacts": artifacts.rows,
    "writers": writers.rows,
    "brief": brief.rows,
    "search": search.rows,
    "database": database.rows,
    "hooks": hooks.rows,  # behind those whose brief has fewer pins
    "import": imports.rows,
    "disk": disk.rows,
    "memory": memory.rows,  # last: its rebuild rewrites the long history
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for and return the exit status."""
    asked = _parser().parse_args(arguments)
    before = report.load(asked.compare) if asked.compare else {}
    title = report.headline(asked.seed, quick=asked.quick)
    print(title, report.columns(), sep="\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="pinfold-benchmarks-") as folder:
        bench = Bench(QUICK if asked.quick else FULL, Path(folder), asked.seed)
        with bench.stack:
            rows, failed = _measure(bench, asked.only or list(GROUPS), before)
    if asked.json:
        report.save(asked.json, title, rows)
    over = [row for row in rows if row.verdict == "over"]
    print(f"{len(rows)} rows, {len(over)} over budget, {failed} groups failed")
    return 1 if failed or (over and not asked.quick) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure pinfold against its budgets."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes, and no verdict on growth")
    parser.add_argument(
        "--only", action="append", choices=list(GROUPS), help="measure this group (can be repeated)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run to a file")
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="show the values of an earlier run beside these"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of all made text")
    return parser


def _measure(bench: Bench, names: Sequence[str], before: dict[str, float]) -> tuple[list[Row], int]:
    """Measure groups, each row printed at once; a group that fails does not take the others with it."""
    rows: list[Row] = []
    failed = 0
    for name in names:
        try:
            for row in GROUPS[name](bench):
                rows.append(row)
                print(report.line(row, before), flush=True)
        except SkippedError as error:
            print(f"{name}: left out, {error}", flush=True)
        except (PeerError, OSError, NotImplementedError, RuntimeError) as error:
            failed += 1
            print(f"{name}: failed, {type(error).__name__}: {error}", flush=True)
    return rows, failed


if __name__ == "__main__":
    sys.exit(main())
