"""Hooks, for which a client waits: those that come with every call, and the one that begins a session."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator

from benchmarks.bench import PINS, Bench, Place, decision
from benchmarks.groups.brief import NOTHING, run_python
from benchmarks.row import Pair, Row
from benchmarks.text import Prose
from benchmarks.timing import Sample, in_turn, timed

HOOK = ("-m", "pinfold", "hook")
GROWTH = 1.2
_ALL_PINS = 100
_RESPONSE = {"stdout": "41 passed in 2.31s", "stderr": "", "interrupted": False, "isImage": False}
_TOOL = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_response": _RESPONSE}


def rows(bench: Bench) -> Iterator[Row]:
    """Yield a hook that has nothing to do and a session's start against nothing, then against a short log."""
    small = bench.history(bench.scale.small_log).place
    large = bench.history(bench.scale.large_history).place
    for place in (small, large):
        _pin_more(bench, place)
    ended = json.dumps({"session_id": "bench", "cwd": str(small.project), **_TOOL})
    short = timed(lambda: run_python(small, *HOOK, "post-tool-use", given=ended))
    yield _against_nothing(bench, "post-tool-use`, short output", short, 3.0)
    starts = f"session-start`, {_ALL_PINS} pins, {bench.scale.large_history:,} events"
    yield _against_nothing(bench, starts, timed(_starts(large)), 15.0)
    pair = in_turn(timed(_starts(large)), timed(_starts(small)), bench.scale.commands)
    floor = f"the same, {bench.scale.small_log:,} events"
    judged = not bench.scale.quick
    yield Row("hooks", f"`pinfold hook {starts}", floor, pair.ratio, GROWTH, pair=pair, judged=judged)


def _against_nothing(bench: Bench, what: str, ours: Sample, budget: float) -> Row:
    nothing = timed(lambda: run_python(bench.history(bench.scale.small_log).place, *NOTHING))
    pair: Pair = in_turn(ours, nothing, 2 * bench.scale.commands)
    return Row("hooks", f"`pinfold hook {what}", "`python -c pass`", pair.ratio, budget, pair=pair)


def _starts(place: Place) -> Callable[[], str]:
    """Return what begins one new session after another."""
    numbers = itertools.count()

    def start() -> str:
        event = {"session_id": f"session-{next(numbers)}", "cwd": str(place.project), "source": "startup"}
        return run_python(place, *HOOK, "session-start", given=json.dumps(event))

    return start


def _pin_more(bench: Bench, place: Place) -> None:
    prose = Prose(bench.seed + 1)
    with bench.server(place) as server:
        server.greet()
        for number in range(PINS + 1, _ALL_PINS + 1):
            server.call("pin_decision", text=decision(number, prose), why=f"measured {number} ms")
