"""Runs one real client through a scripted conversation."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from tests.clients.clients import THREAD, USUAL, Client, Line, Opening, Place, Start
from tests.clients.dialogue import Json, Result
from tests.clients.model import Script, ScriptedModel, serving

LIMIT_SECONDS = 240
_BEGAN = re.compile(r'"result":{"thread":{"id":"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Conversation:
    """What came of it: the tool results that the model read, its requests, the client's own output.

    `folds` holds, for each compaction, the index of the first request after it.
    """

    results: tuple[Result, ...]
    requests: tuple[Json, ...]
    folds: tuple[int, ...]
    stdout: str
    seconds: float


def converse(client: Client, place: Place, script: Script, opening: Opening = USUAL) -> Conversation:
    """Start the client in the project, play all turns, and wait until it has ended well.

    Raises `AssertionError` with the client's output where it fails, hangs or leaves turns unplayed.
    """
    model = ScriptedModel(script)
    began = time.monotonic()
    with serving(model) as url:
        output = run(client.start(place, opening, url), place)
    assert model.unplayed == 0, f"{model.unplayed} turns were not asked for:\n{output}"
    seconds = time.monotonic() - began
    return Conversation(model.results(), tuple(model.requests), tuple(model.folds), output, seconds)


def run(start: Start, place: Place) -> str:
    """Run a command of a client in the project to its end; return its standard output.

    Raises `AssertionError` for an exit status but 0, and after killing all that it started when it takes too long.
    """
    errors = place.temporary / "stderr"
    with errors.open("wb") as stderr, _started(start, place, stderr) as child:
        output = "".join(_talk(child, start.lines))
    said = errors.read_text(errors="replace")
    assert child.returncode == 0, f"exit status {child.returncode}\n{output}\n{said}"
    return output


@contextmanager
def _started(start: Start, place: Place, stderr: IO[bytes]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        start.argv,
        cwd=place.project,
        env=start.env,
        stdin=subprocess.PIPE if start.lines else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
    ) as child:
        limit = threading.Timer(LIMIT_SECONDS, os.killpg, (child.pid, signal.SIGKILL))
        limit.start()
        try:
            yield child
            child.wait()
        finally:
            limit.cancel()


def _talk(child: subprocess.Popen[str], lines: tuple[Line, ...]) -> Iterator[str]:
    """Yield what the client prints; write the next line whenever it is done with the one before."""
    unsaid, thread = iter(lines), ""
    line = _say(child, next(unsaid, None), thread)
    assert child.stdout is not None
    for printed in child.stdout:
        yield printed
        if began := _BEGAN.search(printed):
            thread = began[1]
        if line and line.done in printed:
            line = _say(child, next(unsaid, None), thread)


def _say(child: subprocess.Popen[str], line: Line | None, thread: str) -> Line | None:
    if child.stdin is None or child.stdin.closed:
        return None
    with suppress(BrokenPipeError):  # its exit status says more
        if line is None:
            child.stdin.close()
        else:
            child.stdin.write(f"{line.text.replace(THREAD, thread)}\n")
            child.stdin.flush()
    return line
