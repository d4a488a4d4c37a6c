"""The story that every client plays: its user, its server, and the words its model must read again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pinfold
from tests.clients.clients import ClaudeCode, Client, Codex, OpenCode, Place, Server
from tests.clients.dialogue import Call, Result, Say
from tests.clients.model import Script
from tests.clients.run import Conversation, converse

PIN = 'Retry 7 times,  250 ms apart ("jitter" ±10 %), in C:\\srv\\retry.py; 再試行 cafe\u0301'
WHY = "because 5 retries lost 3 of 1,204 jobs on 2026-11-02"
NEXT_STEP = "Run the soak test with --seed 4711"
LOG = tuple(f"{n:04d} worker-{n % 7} wrote block {n * 7919 % 100_003}" for n in range(1, 2_001))


@dataclass(frozen=True, slots=True)
class Kind:
    """A client, and which of the two channels of a reply it hands to its model."""

    client: Client
    reads_text: bool
    reads_structured: bool


KINDS = {
    "claude-code": Kind(ClaudeCode(), reads_text=False, reads_structured=True),
    "codex": Kind(Codex(), reads_text=False, reads_structured=True),
    "codex-code-mode": Kind(Codex("gpt-6.2-sol"), reads_text=True, reads_structured=True),
    "opencode": Kind(OpenCode(), reads_text=True, reads_structured=False),
}


@dataclass(frozen=True, slots=True)
class Visit:
    """What one client's model read in two conversations; `results` are the first one's, by step."""

    kind: Kind
    first: Conversation
    second: Conversation
    results: dict[str, Result]


def play(kind: Kind, place: Place) -> Visit:
    """Write everything down in one conversation, and ask for the brief in a new one."""
    kind.client.register(place, server_of(place))
    steps, done = _steps(place), Say("Done.")
    first = converse(kind.client, place, Script((*steps.values(), done)))
    second = converse(kind.client, place, Script((Call("fetch_pointer", {"pointer": "brief"}), done)))
    return Visit(kind, first, second, dict(zip(steps, first.results, strict=True)))


def server_of(place: Place) -> Server:
    """Return this checkout's server with a store of the user's own."""
    source = str(Path(pinfold.__file__).parents[1])
    env = {"PINFOLD_HOME": str(place.home / "store"), "PYTHONPATH": source}
    return Server((sys.executable, "-m", "pinfold"), env)


def begin_user(root: Path) -> Place:
    """Make an empty home and a git project that holds a long log."""
    place = Place(root / "home", root / "project", root / "tmp")
    for folder in (place.home, place.project, place.temporary):
        folder.mkdir()
    (place.project / "build.log").write_text("".join(f"{line}\n" for line in LOG))
    git = ("git", "-C", str(place.project), "-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Begin")):
        subprocess.run([*git, *command], check=True, timeout=30)
    return place


def _steps(place: Place) -> dict[str, Call]:
    log = str(place.project / "build.log")
    state = {"goal": "Ship the queue", "pending": ["soak test"], "next_step": NEXT_STEP}
    return {
        "pin": Call("pin_decision", {"text": PIN, "why": WHY}),
        "spill": Call("spill_artifact", {"path": log, "label": "build log"}),
        "search": Call("search_history", {"query": "retry jitter"}),
        "fetch pin": Call("fetch_pointer", {"pointer": "P1"}),
        "fetch lines": Call("fetch_pointer", {"pointer": "A1", "lines": "1000-1003"}),
        "fetch brief": Call("fetch_pointer", {"pointer": "brief"}),
        "fetch nothing": Call("fetch_pointer", {"pointer": "P999"}),
        "checkpoint": Call("checkpoint_state", state),
    }
