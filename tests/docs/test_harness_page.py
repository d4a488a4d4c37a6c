"""The examples of docs/harness.md run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _run(place: int) -> str:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs/harness.md").read_text("utf-8"), re.DOTALL)
    assert len(examples) == 2
    done = subprocess.run(
        [sys.executable, "-c", examples[place]],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_runs_and_keeps_its_pin() -> None:
    said = _run(0)
    told = re.fullmatch(r"(\d+) steps, (\d+) of 1000 tokens, pinned: We keep sessions .*\n", said)
    assert told, said
    assert int(told[1]) > 150
    assert int(told[2]) <= 1_000


def test_the_example_over_a_store_resumes_and_forks_what_it_kept() -> None:
    said = _run(1)
    told = re.fullmatch(
        r"resumed: True, (\d+) of 1000 tokens\nforked: True, the past: True\n\[P1 decision\] We keep .*\n.*\n",
        said,
    )
    assert told, said
    assert 0 < int(told[1]) <= 1_000
