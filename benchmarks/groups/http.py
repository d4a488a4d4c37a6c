"""What a call costs over HTTP, beside the same call of a server on stdio."""

from __future__ import annotations

import http.client
import itertools
import json
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from benchmarks.bench import Bench, Place, decision
from benchmarks.client import LIFE_S, PeerError
from benchmarks.row import Row
from benchmarks.text import Prose
from benchmarks.timing import in_turn, timed

BUDGET = 2.0
_STDIO = "the same over stdio"
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def rows(bench: Bench) -> Iterator[Row]:
    """Yield a read's and a write's round trip over a connection that is kept."""
    place, other = bench.place(), bench.place()
    prose, numbers = Prose(bench.seed), itertools.count(1)
    with bench.server(place) as stdio, _server(other) as over_http:
        stdio.greet()

        def pins(server: Any) -> None:
            server.call("pin_decision", text=decision(next(numbers), prose), why=prose.words(8))

        write = in_turn(
            timed(lambda: pins(over_http)), timed(lambda: pins(stdio)), bench.scale.round_trips // 4, warm=5
        )
        read = in_turn(
            timed(lambda: over_http.call("fetch_pointer", pointer="P1")),
            timed(lambda: stdio.call("fetch_pointer", pointer="P1")),
            bench.scale.round_trips,
            warm=10,
        )
    yield Row("http", 'fetch_pointer("P1") over HTTP', _STDIO, read.ratio, BUDGET, pair=read)
    yield Row("http", "pin_decision over HTTP", _STDIO, write.ratio, BUDGET, pair=write)


class _Line:
    """A connection to a server over HTTP."""

    def __init__(self, address: str) -> None:
        self._line = http.client.HTTPConnection(address, timeout=LIFE_S)

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; raises `PeerError` when it reports an error."""
        params = {"_meta": _META, "name": tool, "arguments": arguments}
        sent = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        self._line.request("POST", "/mcp", sent, _headers(tool))
        result: dict[str, Any] = json.loads(self._line.getresponse().read())["result"]
        if result["isError"]:
            raise PeerError(f"{tool}: {result['content']}")
        return result

    def close(self) -> None:
        self._line.close()


def _headers(tool: str) -> dict[str, str]:
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    return {**kinds, "MCP-Protocol-Version": _VERSION, "Mcp-Method": "tools/call", "Mcp-Name": tool}


@contextmanager
def _server(place: Place) -> Iterator[_Line]:
    """Start pinfold's server on a free port; the line to it is closed, and the server ended, behind the block."""
    command = [sys.executable, "-m", "pinfold", "serve", "--http", "127.0.0.1:0"]
    with subprocess.Popen(
        command, env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            address = urllib.parse.urlsplit(server.stdout.readline().strip()).netloc
            with closing(_Line(address)) as line:
                yield line
        finally:
            server.terminate()
