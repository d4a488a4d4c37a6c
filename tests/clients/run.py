"""Runs one real client through a scripted conversation."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.clients.clients import Client, Place, Server, Start
from tests.clients.dialogue import Json, Result, Turn
from tests.clients.model import ScriptedModel, serving

LIMIT_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Conversation:
    """What came of it: the tool results that the model read, its requests, the client's own output."""

    results: tuple[Result, ...]
    requests: tuple[Json, ...]
    stdout: str
    seconds: float


def converse(client: Client, place: Place, server: Server, turns: Sequence[Turn]) -> Conversation:
    """Start the client in the project, play all turns, and wait until it has ended well.

    Raises `AssertionError` with the client's output where it fails, hangs or leaves turns unplayed.
    """
    model = ScriptedModel(turns)
    began = time.monotonic()
    with serving(model) as url:
        output = run(client.start(place, server, url), place)
    assert model.unplayed == 0, f"{model.unplayed} turns were not asked for:\n{output}"
    return Conversation(model.results(), tuple(model.requests), output, time.monotonic() - began)


def run(start: Start, place: Place) -> str:
    """Run a command of a client in the project to its end; return its standard output.

    Raises `AssertionError` for an exit status but 0, `TimeoutExpired` after killing all that it started.
    """
    with subprocess.Popen(
        start.argv,
        cwd=place.project,
        env=start.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            stdout, stderr = child.communicate(timeout=LIMIT_SECONDS)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode == 0, f"exit status {child.returncode}\n{stdout}\n{stderr}"
    return stdout
