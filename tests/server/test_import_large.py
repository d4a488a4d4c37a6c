"""A long transcript: in flat memory, and in transactions that keep nobody waiting. `make bench` imports a gigabyte."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.store.commands import Message
from pinfold.store.values import Caller
from tests.server.histories import Place
from tests.server.peer import environment
from tests.server.written import Written, transcript

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="reads the kernel's figures of memory in its units"),
]

PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(f"peak {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}", file=sys.stderr)
sys.exit(done.returncode)
"""
MIB = 1024 * 1024
LARGE = 192 * MIB
MORE_MEMORY = 32 * 1024
"""In KiB: how much a long transcript may take beyond a short one."""

LONGEST_WAIT_S = 0.5
"""Of 99 in 100 writes: now and then the disk itself takes as long."""
BEN = Caller("codex", "ben")


@pytest.mark.timeout(1_200)
def test_a_long_transcript_comes_in_with_flat_memory_and_others_write_meanwhile(tmp_path: Path) -> None:
    small, _ = _imported(Place(tmp_path / "small"), MIB)
    large, waits = _imported(Place(tmp_path / "large"), LARGE)
    waits.sort()
    usual = waits[len(waits) * 99 // 100]
    print(
        f"peak {small} and {large} KiB; {len(waits)} writes beside it, p99 {usual:.3f} s, longest {waits[-1]:.3f} s"
    )
    assert large - small < MORE_MEMORY
    assert len(waits) > 100
    assert usual < LONGEST_WAIT_S


def _imported(place: Place, size_bytes: int) -> tuple[int, list[float]]:
    """Import so much under a small parent; return its peak in KiB, and how long writes beside it took in seconds."""
    path = _written(place, size_bytes)
    with (
        closing(place.store()) as store,
        subprocess.Popen(
            [sys.executable, "-c", PEAK, *place.command("import", path)],
            env=environment(**place.variables),
            stderr=subprocess.PIPE,
            text=True,
        ) as child,
    ):
        waits: list[float] = []
        while child.poll() is None:
            began = time.monotonic()
            store.append_messages(BEN, [Message("user", f"beside it, number {len(waits)}")])
            waits.append(time.monotonic() - began)
            try:
                child.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        assert child.stderr is not None
        told = child.stderr.read()
    assert child.returncode == 0
    peak = re.fullmatch(r"peak (\d+)\n", told)
    assert peak, told
    return int(peak[1]), waits


def _written(place: Place, size_bytes: int) -> Path:
    """Write a conversation with a compaction every 50 MiB, and at its end."""
    talk = Written()
    path = transcript(place.folder, [])
    with path.open("wb") as file:
        folded = 0
        for number in itertools.count():
            rows = "".join(
                f"{row} of step {number} took {row * number % 977} ms → done\n" for row in range(200)
            )
            file.write(talk.says(f"Use port {number} for step {number}, because it is free.", "user"))
            file.write(talk.runs("Bash", {"command": f"make step-{number}"}, rows))
            if file.tell() - folded > 50 * MIB or file.tell() > size_bytes:
                file.write(talk.compacts(f"Steps were made, the last was {number}."))
                folded = file.tell()
            if file.tell() > size_bytes:
                return path
    raise AssertionError
