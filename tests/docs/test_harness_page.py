"""The example of docs/harness.md runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example_runs_and_keeps_its_pin() -> None:
    [example] = re.findall(r"```python\n(.*?)```", (ROOT / "docs/harness.md").read_text("utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    told = re.fullmatch(r"(\d+) steps, (\d+) of 1000 tokens, pinned: We keep sessions .*\n", done.stdout)
    assert told, done.stdout
    assert int(told[1]) > 150
    assert int(told[2]) <= 1_000
