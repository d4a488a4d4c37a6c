"""`pinfold replay` on a long transcript: in flat memory; and at a terminal, with a bar and a table."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from tests.server.peer import environment
from tests.server.person import Project
from tests.server.replays import Talk, week
from tests.server.terminals import on_terminal
from tests.server.test_import_large import MIB, PEAK

SMALL, LARGE = 4 * MIB, 80 * MIB
MORE_MEMORY = 24 * 1024
"""In KiB: how much the large transcript may take beyond the small one; held whole it would be more than 80 MiB."""


@pytest.mark.full
@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != "linux", reason="reads the kernel's figures of memory in its units")
def test_a_long_transcript_is_replayed_in_flat_memory(tmp_path: Path) -> None:
    peaks = {}
    for size_bytes in (SMALL, LARGE):
        path = _written(tmp_path / f"{size_bytes}.jsonl", size_bytes)
        page = path.with_suffix(".html")
        command = (
            sys.executable,
            "-m",
            "pinfold",
            "replay",
            str(path),
            "--tokens",
            "estimate",
            "--html",
            str(page),
        )
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *command],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        peak = re.search(r"peak (\d+)\n", done.stderr)
        assert peak, done.stderr
        peaks[size_bytes] = int(peak[1])
        assert page.stat().st_size < MIB
    print(f"peaks {peaks} KiB")
    assert peaks[LARGE] - peaks[SMALL] < MORE_MEMORY


def _written(path: Path, size_bytes: int) -> Path:
    """A conversation whose client never folds, with results of 200 kB, of which each is another."""
    talk, number = Talk(), 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size_bytes:
            number += 1
            talk.user(f"Use port {number} for step {number}.")
            talk.begins()
            call = talk.calls("Bash", {"command": f"make step-{number}"})
            talk.results(call, f"{number}: a line of the log\n" * 10_000)
            file.writelines(json.dumps(line) + "\n" for line in talk.lines)
            talk.lines.clear()
    return path


def test_at_a_terminal_there_is_a_bar_and_a_table_without_empty_columns(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop")
    path = week(days=1, turns=2).written(tmp_path / "week.jsonl")
    shown = _shown(project, path)
    assert re.search(r"replay +\[#+\] +100%", shown)
    assert re.search(r"\n +raw +client +projected +reported *\n", shown)
    assert re.search(r"\nfolds +1 +0 *\n", shown)
    assert "claude-opus-4-5, window 200,000;" in shown
    bare = tmp_path / "bare.jsonl"
    bare.write_text(re.sub(r', "usage": \{[^}]*\}', "", path.read_text()))
    shown = _shown(project, bare)
    assert re.search(r"\n +raw +client +projected *\n", shown)
    assert "The transcript has no usage figures" in shown
    assert re.search(r"rent +\[#+\] +100%", on_terminal(project, "rent", str(path)))


def _shown(project: Project, path: Path) -> str:
    """What a replay shows at a terminal, without colours."""
    shown = on_terminal(project, "replay", str(path), "--tokens", "estimate")
    return re.sub(r"\x1b\[[\d;?]*[a-z]", "", shown, flags=re.IGNORECASE)
