"""A client of raw lines: it speaks to a real server process over real pipes and takes nothing for granted."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from tests.warm.server import WarmProcess, nothing

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).with_name("toy_server.py")
PATIENCE_S = 30.0

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Answer = dict[str, Any]


def environment(**more: str) -> dict[str, str]:
    """Return a bare environment in which the sources can be imported."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), **more}


def request(request_id: object, method: str, **params: Any) -> Answer:
    """Return a request of the 2026 era, which needs no handshake."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": META, **params}}


def call(request_id: object, tool: str, **arguments: Any) -> Answer:
    return request(request_id, "tools/call", name=tool, arguments=arguments)


def text_of(answer: Answer) -> str:
    text = answer["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


class Peer:
    """One server process; reading a line of it that is not one ASCII JSON-RPC message fails the test."""

    def __init__(
        self, server: subprocess.Popen[bytes] | WarmProcess, stderr: IO[bytes] | None, tombstone: int
    ) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        assert stderr is not None
        self.server = server
        self._stderr = stderr
        self.stdin: IO[bytes] = server.stdin
        self.stdout: IO[bytes] = server.stdout
        self.noted = b""
        self._tombstone = tombstone
        self._unread = bytearray()
        self._noted_more = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def send(self, *messages: Answer | bytes) -> None:
        """Write messages, or raw bytes as they are."""
        lines = [one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages]
        self.stdin.write(b"".join(lines))
        self.stdin.flush()

    def receive(self) -> Answer | None:
        """Return the next message; None at the end of the server's output."""
        line = self._next_line()
        if not line:
            return None
        assert line.isascii()
        assert line.endswith(b"\n")
        message = json.loads(line)
        assert isinstance(message, dict)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, *messages: Answer | bytes) -> Answer:
        """Send and return the next message, whatever it answers."""
        self.send(*messages)
        answer = self.receive()
        assert answer is not None
        return answer

    def rest(self) -> list[Answer]:
        """Return all messages up to the end of the output."""
        rest = []
        while answer := self.receive():
            rest.append(answer)
        return rest

    def wait_for_note(self, text: bytes) -> None:
        """Wait until the server's stderr holds this text."""
        with self._noted_more:
            assert self._noted_more.wait_for(lambda: text in self.noted, PATIENCE_S), self.noted

    def is_gone(self, timeout_s: float) -> bool:
        """Wait until the server's process, and every child that it left, is gone."""
        return bool(select.select([self._tombstone], [], [], timeout_s)[0])

    def close(self) -> None:
        self.server.kill()
        self.server.wait(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        for pipe in (self.stdin, self.stdout, self._stderr):
            with suppress(BrokenPipeError):
                pipe.close()
        os.close(self._tombstone)

    def _next_line(self) -> bytes:
        while b"\n" not in self._unread:
            assert select.select([self.stdout], [], [], PATIENCE_S)[0], "no answer"
            chunk = os.read(self.stdout.fileno(), 1 << 20)
            if not chunk:
                return bytes(self._unread)
            self._unread += chunk
        line, _, rest = self._unread.partition(b"\n")
        self._unread = rest
        return bytes(line) + b"\n"

    def _listen(self) -> None:
        for line in self._stderr:
            with self._noted_more:
                self.noted += line
                self._noted_more.notify_all()


@contextmanager
def toy(*arguments: str, **variables: str) -> Iterator[Peer]:
    """Start the toy server; kill it at the end if it still runs."""
    with running([sys.executable, str(TOY), *arguments], **variables) as peer:
        yield peer


@contextmanager
def running(command: Sequence[str], **variables: str) -> Iterator[Peer]:
    """Start a command; its processes hold one end of a pipe, the tombstone, for as long as they live."""
    tombstone, held = os.pipe()
    pipe, env = subprocess.PIPE, environment(**variables)
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env, pass_fds=[held])
    os.close(held)
    with closing(Peer(server, server.stderr, tombstone)) as peer:
        yield peer


@contextmanager
def serving(first: Callable[[], object] = nothing, **variables: str) -> Iterator[Peer]:
    """Serve from a warm process, where it does not matter how a server starts."""
    (tombstone, held), (noted, notes) = os.pipe(), os.pipe()
    server = WarmProcess(notes, environment(**variables), (held,), first)
    os.close(held)
    os.close(notes)
    with closing(Peer(server, open(noted, "rb"), tombstone)) as peer:
        yield peer
