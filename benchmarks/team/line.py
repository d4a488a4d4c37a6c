"""One connection to a team's server over HTTP, as a coding client keeps it."""

from __future__ import annotations

import http.client
import json
from contextlib import suppress
from typing import Any

PATIENCE_S = 120
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_KINDS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": _VERSION,
}


class FailedError(Exception):
    """A call was answered with an error."""


class AwayError(Exception):
    """Nobody answered, or the server said that it ends: nothing is known, and the same may be asked again."""


class Line:
    """Calls of one conversation of one project, in turn; made anew when the connection broke."""

    def __init__(self, port: int, project: str, token: str, conversation: str) -> None:
        self._port = port
        self._path = f"/p/{project}/mcp"
        self._headers = {**_KINDS, "Authorization": f"Bearer {token}", "Pinfold-Session": conversation}
        self._line: http.client.HTTPConnection | None = None

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its structured content; raises `FailedError` or `AwayError`."""
        params = {"_meta": _META, "name": tool, "arguments": arguments}
        sent = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        result: dict[str, Any] = json.loads(self._exchanged(tool, sent))["result"]
        if result.get("isError"):
            raise FailedError(f"{tool}: {result['content'][0]['text']}")
        structured: dict[str, Any] = result.get("structuredContent", {})
        return structured

    def _exchanged(self, tool: str, sent: str) -> bytes:
        headers = {**self._headers, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        try:
            if self._line is None:
                self._line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
            self._line.request("POST", self._path, sent, headers)
            answer = self._line.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise AwayError(str(error)) from None
        if answer.status in (500, 503):  # a call that the end cut off, or one that came after it
            raise AwayError(f"{answer.status}")
        if answer.status != 200:
            raise FailedError(f"{tool}: {answer.status} {body[:200]!r}")
        return body

    def close(self) -> None:
        """Let go of the connection."""
        if self._line is not None:
            with suppress(OSError):
                self._line.close()
            self._line = None
