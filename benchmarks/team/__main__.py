"""`python -m benchmarks.team [--agents N] [--store postgres|ADDRESS] [--beside | --growth WHAT] [--json]`.

Exit status 1 when a call failed, something was lost or doubled, or nothing could be measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.row import SkippedError
from benchmarks.team import beside, growth, load, telling
from benchmarks.team.serving import served

_SIZES = {
    "projects": (1, 10, 100, 1_000),
    "agents": (1, 2, 5, 10, 20, 50),
    "entries": (1_000, 10_000, 100_000),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for and return the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.beside:
            telling.tell_beside(beside.measure(asked.repeat, asked.store), as_json=asked.json)
        elif asked.growth:
            _grow(asked)
        else:
            return _load(asked)
    except SkippedError as error:
        print(f"nothing was measured: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.team", description="Measure a team's server under load."
    )
    parser.add_argument("--agents", type=int, default=50, help="processes with a conversation each (50)")
    parser.add_argument("--calls", type=int, default=48, help="of each agent (48)")
    parser.add_argument("--projects", type=int, default=1, help="that the agents are spread over (1)")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between an agent's calls (0)")
    parser.add_argument("--restarts", type=int, default=0, help="kill -9 and SIGTERM in turn (0)")
    parser.add_argument("--store", help="an empty PostgreSQL database; postgres: one made here; none: SQLite")
    parser.add_argument("--beside", action="store_true", help="one call alone, on each way to a store")
    parser.add_argument("--repeat", type=int, default=200, help="of each call with --beside (200)")
    parser.add_argument("--growth", choices=list(_SIZES), help="how cost grows with this")
    parser.add_argument("--sizes", type=int, nargs="+", help="of --growth")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _load(asked: argparse.Namespace) -> int:
    plan = load.Plan(asked.agents, asked.calls, asked.projects, asked.pause, asked.restarts)
    with served(asked.store) as server:
        result = load.run(server, plan)
    telling.tell_load(plan, result, telling.kind_of(asked.store), as_json=asked.json)
    return 1 if result.failed or result.lost or result.doubled else 0


def _grow(asked: argparse.Namespace) -> None:
    sizes = asked.sizes or _SIZES[asked.growth]
    if asked.growth == "agents":
        for size, result in growth.by_agents(sizes, asked.store, asked.agents * asked.calls):
            telling.tell_load(load.Plan(size), result, telling.kind_of(asked.store), as_json=asked.json)
        return
    grow = growth.by_projects if asked.growth == "projects" else growth.by_entries
    telling.tell_steps(asked.growth, grow(sizes, asked.store), as_json=asked.json)


if __name__ == "__main__":
    sys.exit(main())
