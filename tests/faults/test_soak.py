"""The soak tier, `make soak`: for as long as `PINFOLD_SOAK_S` says, with the figures of each round on stdout.

Kills, churn and the stateful test, round after round, beside one server that lives through all of them: its memory and
its descriptors must not grow with its calls.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.faults.lines import Server
from tests.faults.test_churn import test_servers_that_come_and_go_lose_nothing_of_each_other as churn
from tests.faults.test_kill_loop import (
    test_what_was_acknowledged_survives_kills_and_a_retry_makes_nothing_twice as kill,
)
from tests.faults.test_model import StoreMachine, machine_settings, surroundings

pytestmark = [
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        "PINFOLD_SOAK_S" not in os.environ, reason="runs for PINFOLD_SOAK_S seconds: make soak"
    ),
]
CALLS = 60
WARM_ROUNDS = 2
MOST_GROWTH_KB = 32 * 1024
__all__ = ["surroundings"]


def _rounds(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yield a new home and a new project, until the time is over."""
    end = time.monotonic() + float(os.environ["PINFOLD_SOAK_S"])
    number = 0
    while time.monotonic() < end:
        number += 1
        home, project = root / f"{number}" / "home", root / f"{number}" / "shop"
        project.mkdir(parents=True)
        yield home, project


def _traits(server: Server) -> tuple[int, int]:
    """Return a process's memory in KB and its open descriptors; zeros where /proc is not there."""
    place = Path(f"/proc/{server.process.pid}")
    if not place.exists():
        return 0, 0
    line = next(line for line in (place / "status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]), len(list((place / "fd").iterdir()))


def _call(server: Server, first: int) -> None:
    for n in range(first, first + CALLS):
        assert not server.call(
            "pin_decision", text=f"decision {n}", why="soak", supersedes=[f"P{n}"][: n > 0]
        ).failed
        assert not server.call("spill_artifact", content=f"line {n}\n" * 2_000, label=f"log {n}").failed
        assert not server.call("search_history", query=f"line {n}").failed
        assert not server.call("fetch_pointer", pointer="brief").failed


def test_nothing_is_lost_and_nothing_grows_for_as_long_as_it_goes_on(
    tmp_path: Path, surroundings: None
) -> None:
    (tmp_path / "long").mkdir()
    with Server(tmp_path / "home", tmp_path / "long", "long") as server:
        assert server.shake_hands()
        warm = (0, 0)
        for number, (home, project) in enumerate(_rounds(tmp_path)):
            kill(home, project, 40)
            churn(home.with_name("churned"), project, 4)
            run_state_machine_as_test(StoreMachine, settings=machine_settings(20, 40))
            _call(server, number * CALLS)
            memory, descriptors = _traits(server)
            print(f"round {number + 1}: {memory:,} KB, {descriptors} descriptors", flush=True)
            if number < WARM_ROUNDS:
                warm = memory, descriptors
            assert memory <= warm[0] + MOST_GROWTH_KB
            assert descriptors <= warm[1]
        assert server.leave() == 0
