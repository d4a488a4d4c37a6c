"""What was measured: a table on a terminal, cells parted by tabs in a pipe, or an object a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from benchmarks.team.growth import Step
from benchmarks.team.load import Plan, Result, Times

_TIMES = ("calls", "p50 ms", "p95 ms", "p99 ms", "longest ms")
_SHOWN = 5


def kind_of(store: str | None) -> str:
    """Return what a store is called, without its address."""
    return "SQLite" if store is None else "PostgreSQL"


def tell_load(plan: Plan, result: Result, store: str, *, as_json: bool) -> None:
    """Print what many agents at once gave."""
    if as_json:
        print(json.dumps({"store": store, "plan": asdict(plan), "per_s": result.per_s, **asdict(result)}))
        return
    rows = [[act, *_cells(each)] for act, each in result.times.items()]
    _print(f"{plan.agents} agents, {plan.projects} project(s), {store}", ("", *_TIMES), rows)
    each_ms = result.cpu_s / result.calls * 1_000
    print(f"{result.calls:,} calls in {result.took_s:.1f} s: {result.per_s:,.0f} a second")
    print(f"the server: {each_ms:.1f} ms of processor time a call, {_mib(result.peak_bytes)} MiB at its peak")
    print(f"{len(result.failed)} failed, {result.retried} asked again, {result.restarts} restarts", end=", ")
    print(f"{result.lost} events lost, {result.doubled} doubled", *result.failed[:_SHOWN], sep="\n")


def tell_beside(found: Mapping[str, Mapping[str, Times]], *, as_json: bool) -> None:
    """Print what one call costs on each way."""
    if as_json:
        print(
            json.dumps(
                {way: {act: asdict(each) for act, each in acts.items()} for way, acts in found.items()}
            )
        )
        return
    rows = [[f"{way}: {act}", *_cells(each)] for way, acts in found.items() for act, each in acts.items()]
    _print("one caller at a time", ("", *_TIMES), rows)


def tell_steps(what: str, steps: Iterable[Step], *, as_json: bool) -> None:
    """Print each size as it was measured: medians of calls, and what the server and its store take."""
    for step in steps:
        if as_json:
            print(json.dumps(asdict(step)), flush=True)
            continue
        medians = {f"{act} p50 ms": _ms(each.p50) for act, each in step.times.items()}
        facts = {
            what: f"{step.size:,}",
            **medians,
            "search p99 ms": _ms(step.times["search"].p99),
            "memory MiB": _mib(step.peak_bytes),
            "files": f"{step.open_files:,}",
            "connections": f"{step.connections:,}",
            "disk MiB": _mib(step.disk_bytes),
            "built in s": f"{step.build_s:,.1f}",
        }
        print("  ".join(f"{name} {cell}" for name, cell in facts.items()), flush=True)


def _cells(each: Times) -> list[str]:
    return [f"{each.count:,}", *map(_ms, (each.p50, each.p95, each.p99, each.longest))]


def _print(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [list(columns), *map(list, rows)]
    if not sys.stdout.isatty():
        print(f"# {title}", *("\t".join(line) for line in lines), sep="\n")
        return
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(title)
    for first, *cells in lines:
        print(
            first.ljust(wide[0]),
            *(cell.rjust(width) for cell, width in zip(cells, wide[1:], strict=True)),
            sep="  ",
        )


def _ms(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _mib(count: float) -> str:
    return f"{count / 1024 / 1024:,.0f}"
