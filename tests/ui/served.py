"""A real `pinfold ui` in a process of its own, and requests as they go over the wire."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

WAIT_S = 20


@dataclass(frozen=True)
class Answer:
    """One answer: its status, its headers (names in lower case, without the date), its body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str

    def header(self, name: str) -> str:
        return dict(self.headers)[name]


@dataclass
class Served:
    """`address` ends with a slash; `said` is what stderr has told by the end."""

    running: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        return int(self.address.split("/")[2].partition(":")[2])

    @property
    def token(self) -> str:
        return self.address.split("/")[3]

    def asks(self, *lines: str) -> Answer:
        """Send a request's lines as they are, and return what comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), WAIT_S) as line:
            line.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
            return _answer(_all_of(line))

    def get(self, page: str) -> Answer:
        return self.asks(f"GET /{self.token}/{page} HTTP/1.1", f"Host: 127.0.0.1:{self.port}")

    def end(self, number: int) -> int:
        """Send a signal and return the exit status."""
        self.running.send_signal(number)
        return self.running.wait(WAIT_S)


def _all_of(line: socket.socket) -> bytes:
    found = b""
    while piece := line.recv(65536):
        found += piece
    return found


def _answer(raw: bytes) -> Answer:
    head, _, body = raw.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = sorted(
        (name.lower(), value.strip()) for name, _, value in (each.partition(":") for each in lines)
    )
    kept = tuple(each for each in headers if each[0] not in ("date", "connection"))
    return Answer(int(status.split()[1]), kept, body.decode())


@contextmanager
def serving(folder: Path, home: Path, *options: str) -> Iterator[Served]:
    """Run `pinfold ui` for the project in `folder`; it has ended when the block is left."""
    running = subprocess.Popen(
        [sys.executable, "-m", "pinfold", "ui", "--project", str(folder), *options],
        env={**os.environ, "PINFOLD_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    try:
        yield Served(running, _first_line(running.stdout))
    finally:
        running.kill()
        running.communicate(timeout=WAIT_S)


def _first_line(stream: IO[str]) -> str:
    found: list[str] = []
    reading = threading.Thread(target=lambda: found.append(stream.readline()), daemon=True)
    reading.start()
    reading.join(WAIT_S)
    assert found, "nothing was printed in time"
    assert found[0].startswith("http://"), "it ended without an address"
    return found[0].strip()
