"""A client of raw JSON lines: a real server process over real pipes, which a test may kill at any moment."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self

from tests.warm.server import WarmProcess

SOURCE = Path(__file__).parents[2] / "src"
PATIENCE_S = 60.0
VERSION = "2025-06-18"

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, which can be sent again as it is."""

    tool: str
    arguments: Facts


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the tool's structured facts, its text, and whether it is an error."""

    facts: Facts
    text: str
    failed: bool


class Server:
    """One server, forked warm or, when its start matters, `python -m pinfold`. Its stderr is kept in a file.

    `more` is added to the bare environment that it is started in; what it may change is how Python starts, so such a
    server starts cold.
    """

    def __init__(
        self,
        home: Path,
        project: Path,
        name: str,
        more: Mapping[str, str] = MappingProxyType({}),
        *,
        cold: bool = False,
    ) -> None:
        self._noted = home.parent / f"{name}.stderr"
        own = environment(home, project) | dict(more)
        with self._noted.open("ab") as noted:
            self.process = _cold(noted, own) if more or cold else WarmProcess(noted.fileno(), own)
        self._next_id = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self._let_go()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")

    def _let_go(self) -> None:
        self.process.wait(PATIENCE_S)
        assert self.process.stdin is not None
        with suppress(OSError):  # what a killed server never read cannot be flushed
            self.process.stdin.close()

    def shake_hands(self) -> bool:
        """Begin the conversation; False when the server ended before it answered."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        first = self._request("initialize", params)
        answer = self._message(first["id"]) if self._send([first]) else None
        if answer is None or "result" not in answer:
            return False
        return self._send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])

    def _request(self, method: str, params: Facts) -> Facts:
        self._next_id += 1
        return {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}

    def _send(self, messages: Sequence[Facts]) -> bool:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
            self.process.stdin.flush()
        except OSError:
            return False
        return True

    def _message(self, *awaited: int) -> Facts | None:
        """Return the next answer to one of these requests; None when the server has ended."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            if not line.endswith(b"\n"):
                return None  # a line without its end was never an answer
            message: Facts = json.loads(line)
            if message.get("id") in awaited:
                return message

    def together(self, calls: Sequence[Call]) -> list[Answer | None]:
        """Send calls in one breath; the answers in the same order, None where the server ended before."""
        requests = [self._request("tools/call", {"name": c.tool, "arguments": c.arguments}) for c in calls]
        found: dict[int, Answer] = {}
        if self._send(requests):
            awaited = [request["id"] for request in requests]
            while len(found) < len(awaited):
                message = self._message(*(one for one in awaited if one not in found))
                if message is None:
                    break
                found[message["id"]] = answer_of(message)
        return [found.get(request["id"]) for request in requests]

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call one tool of a server that is expected to live."""
        answer = self.together([Call(tool, arguments)])[0]
        assert answer is not None, self.notes()
        return answer

    def notes(self) -> str:
        """What every server of this name wrote to stderr so far."""
        return self._noted.read_text("utf-8", "replace")

    def leave(self) -> int:
        """End the conversation as a client does; return the server's exit code."""
        assert self.process.stdin is not None
        with suppress(OSError):  # a dead one did not read it all
            self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


def _cold(noted: IO[bytes], own: dict[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-m", "pinfold"], stdin=pipe, stdout=pipe, stderr=noted, env=own)


def answer_of(message: Facts) -> Answer:
    if "error" in message:
        return Answer({}, str(message["error"]), failed=True)
    result = message["result"]
    text = "\n".join(block.get("text", "") for block in result["content"])
    return Answer(result.get("structuredContent") or {}, text, failed=bool(result.get("isError")))


def environment(home: Path, project: Path) -> dict[str, str]:
    """Return the bare environment of a child that keeps its stores in `home`."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    ours = {"PINFOLD_HOME": str(home), "PINFOLD_PROJECT": str(project), "HOME": str(home)}
    return kept | ours | {"PYTHONPATH": str(SOURCE)}
