"""`pinfold run` in bounded memory, and with a store that others hold: what takes longer than a quick test may."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pinfold.server.settings import read_settings
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.gate import Gate
from tests.server.runs import RUN, Workplace

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="reads the kernel's figures of memory in its units"),
]

PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)
print(f"peak {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}", file=sys.stderr)
sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
"""
LINE = "2026-01-02 03:04:05 INFO worker-7 took 977 ms for request 9f31c2aa07d4 of /api/v1/things"
MORE_MEMORY = 64 * 1024
"""In KiB: how much a long output may take beyond a short one that is stored too."""

GIB = 1024 * 1024 * 1024
MOST = 256 * 1024 * 1024
LONG_S = 110


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def _measured(place: Workplace, *command: str) -> tuple[int, str, int]:
    """Run under a small parent; return the exit status as a shell sees it, what was printed, and the peak in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *command],
        cwd=place.project,
        env=place.environment(),
        capture_output=True,
        text=True,
        timeout=LONG_S,
    )
    assert re.fullmatch(r"peak \d+\n", done.stderr), done.stderr
    return done.returncode, done.stdout, int(done.stderr.split()[1])


def _lines(size_bytes: int) -> list[str]:
    return [*RUN, "--", "sh", "-c", f"yes '{LINE}' | head -c {size_bytes}; exit 3"]


@pytest.mark.timeout(240)
def test_a_gibibyte_takes_no_more_memory_than_a_mebibyte(place: Workplace) -> None:
    _, _, small = _measured(place, *_lines(1024 * 1024))
    status, told, large = _measured(place, *_lines(GIB))
    assert status == 3
    assert large - small <= MORE_MEMORY, f"{small:,} and {large:,} KiB"
    _, (_, begin), (_, end) = place.artifacts()
    line = LINE.encode() + b"\n"
    assert begin == line * (len(begin) // len(line))
    assert MOST - 16 * 1024 < len(begin) <= MOST
    assert end == (line * 20_000)[: len(end)]
    lost = GIB - len(begin) - len(end)
    assert f"the {lost:,} bytes between are not kept." in told


@pytest.mark.timeout(240)
def test_endless_output_ended_by_a_signal_takes_no_more_memory_either(place: Workplace) -> None:
    _, _, small = _measured(place, *_lines(1024 * 1024))
    status, told, large = _measured(place, "timeout", "5", *RUN, "--", "yes", LINE)
    assert status == 124  # what timeout says when it had to end it
    assert large - small <= MORE_MEMORY, f"{small:,} and {large:,} KiB"
    assert "[pinfold] Ended by signal 15." in told


def test_a_store_that_stays_locked_costs_no_output(place: Workplace) -> None:
    settings = read_settings({"PINFOLD_HOME": str(place.home)}, place.project)
    settings.store_folder.mkdir(parents=True)
    printed = b"".join(b"%d bottles\n" % n for n in range(20_000))
    gate = Gate(Place(settings.store_folder).lock)
    with gate.hold():
        done = place.run("--", "cat", given=printed)
    gate.close()
    assert (done.returncode, done.stdout) == (0, printed)
    assert re.fullmatch(
        rb"pinfold: the output is not kept: The store was busy for 10 s [^\n]+\n", done.stderr
    )
