"""The same small client for pinfold and for every floor: JSON lines over the pipes of a real server."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

LIFE_S = 1_800
_END_S = 20
_TAIL_BYTES = 2_000


class PeerError(Exception):
    """The server ended, answered with an error, or a tool failed."""


class Peer:
    """One server at the other end of two pipes, killed after `LIFE_S` so that no wait is endless."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._last_id = 0
        self._watch = threading.Timer(LIFE_S, self._process.kill)
        self._watch.daemon = True
        self._watch.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def greet(self) -> dict[str, Any]:
        """Initialize the session; return what the server said of itself."""
        said = self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return said

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as listed."""
        listed: list[dict[str, Any]] = self.request("tools/list", {})["tools"]
        return listed

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; raises `PeerError` with its text when it reports an error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise PeerError(f"{tool}: {text_of(result)}")
        return result

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return its result; whatever else comes in between is passed over."""
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        while True:
            answer = self._receive()
            if answer.get("id") == self._last_id:
                break
        if "error" in answer:
            raise PeerError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        message: dict[str, Any] = json.loads(line)
        return message

    def _ended(self) -> PeerError:
        self._process.wait(_END_S)
        size = self._errors.seek(0, 2)
        self._errors.seek(max(0, size - _TAIL_BYTES))
        return PeerError(f"the server ended: {self._errors.read().decode('utf-8', 'replace').strip()}")

    def close(self) -> None:
        """End the server by closing its input, or by force when that does not end it. Idempotent."""
        self._watch.cancel()
        try:
            self._process.communicate(timeout=_END_S)
        except (subprocess.TimeoutExpired, ValueError):
            self._process.kill()
            self._process.wait()
        self._errors.close()


def text_of(result: Mapping[str, Any]) -> str:
    """Return the text of a tool's result."""
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
