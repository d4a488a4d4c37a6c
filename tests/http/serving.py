"""A real server over HTTP on a free port of this machine, and a client of single requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pinfold.server.http.tokens import Token, TokenFile
from pinfold.store.values import stamp
from tests.server.peer import META, PATIENCE_S, environment
from tests.warm.server import WarmProcess, nothing

JSON_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: a status, headers by their names in lower case, the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        """The result of a call."""
        result = json.loads(self.body)["result"]
        assert isinstance(result, dict)
        return result

    @property
    def text(self) -> str:
        """The text of a tool's result."""
        text = self.told["content"][0]["text"]
        assert isinstance(text, str)
        return text

    def same_to_a_caller(self) -> tuple[int, bytes, dict[str, str]]:
        """Return all of it but the time of day."""
        return self.status, self.body, {name: text for name, text in self.headers.items() if name != "date"}


class Served:
    """One server process and the data directory that it serves."""

    def __init__(self, process: WarmProcess, notes: Path, home: Path) -> None:
        self.process = process
        self.home = home
        self.tokens = TokenFile(home)
        self._notes = notes
        self.greeting = self._line()
        found = re.search(r"127\.0\.0\.1:(\d+)", self.greeting)
        assert found, f"{self.greeting!r}\n{self.noted()}"
        self.port = int(found[1])

    def noted(self) -> str:
        """Return what stands on its stderr so far."""
        return self._notes.read_text("utf-8")

    def lines(self, count: int) -> list[dict[str, Any]]:
        """Return its log when it has so many lines: each is written when its answer is on its way."""
        ends = time.monotonic() + PATIENCE_S
        while len(found := self.noted().splitlines()) < count:
            assert time.monotonic() < ends, found
            time.sleep(0.01)
        return [json.loads(line) for line in found]

    def connection(self) -> closing[http.client.HTTPConnection]:
        return closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S))

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Send one request over a connection of its own."""
        with self.connection() as line:
            line.request(method, path, body, dict(headers or {}))
            got = line.getresponse()
            found = {name.lower(): text for name, text in got.getheaders()}
            return Reply(got.status, found, got.read())

    def rpc(self, token: str | None, path: str, method: str, **params: Any) -> Reply:
        """Send one request of the newest protocol."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        headers = JSON_HEADERS | {"Mcp-Method": method} | bearer(token)
        if name := params.get("name") or params.get("uri"):
            headers["Mcp-Name"] = name
        return self.ask("POST", path, json.dumps(sent).encode(), headers)

    def call(self, token: str | None, project: str, tool: str, **arguments: Any) -> Reply:
        return self.rpc(token, f"/p/{project}/mcp", "tools/call", name=tool, arguments=arguments)

    def token(
        self, name: str, *projects: str, may_write: bool = True, expires: datetime | None = None
    ) -> str:
        """Add a token and return it."""
        ends = None if expires is None else stamp(expires)
        return self.tokens.add(Token(name, "", projects, may_write, stamp(datetime.now(UTC)), ends))

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send it a signal and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def _line(self) -> str:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE_S)[0], self.noted()
        return self.process.stdout.readline().decode()


def bearer(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@contextmanager
def served(
    folder: Path, *arguments: str, first: Callable[[], object] = nothing, **variables: str
) -> Iterator[Served]:
    """Serve a data directory below `folder` until the block is left; it may have ended before."""
    project, notes = folder / "project", folder / "notes"
    project.mkdir(exist_ok=True)
    process = _begun(folder, ("serve", "--http", "127.0.0.1:0", *arguments), first, variables)
    try:
        yield Served(process, notes, folder / "home")
    finally:
        _leave(process)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the same data directory to its end."""
    (folder / "project").mkdir(exist_ok=True)
    (folder / "notes").unlink(missing_ok=True)
    process = _begun(folder, arguments)
    try:
        assert process.stdout is not None
        printed = process.stdout.read().decode()
        code = process.wait(PATIENCE_S)
    finally:
        _leave(process)
    return subprocess.CompletedProcess(arguments, code, printed, (folder / "notes").read_text("utf-8"))


def _begun(
    folder: Path,
    arguments: tuple[str, ...],
    first: Callable[[], object] = nothing,
    variables: Mapping[str, str] | None = None,
) -> WarmProcess:
    """Start pinfold with its stderr in the file `notes`."""
    home, project = str(folder / "home"), str(folder / "project")
    env = environment(PINFOLD_HOME=home, PINFOLD_PROJECT=project, **(variables or {}))
    descriptor = os.open(folder / "notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return WarmProcess(descriptor, env, first=first, arguments=arguments)
    finally:
        os.close(descriptor)


def _leave(process: WarmProcess) -> None:
    process.kill()
    process.wait(PATIENCE_S)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
