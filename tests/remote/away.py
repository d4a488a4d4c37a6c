"""A client whose project's store is on a team's server, and the way there, which a test can cut."""

from __future__ import annotations

import io
import json
import os
import select
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import anyio
from click.testing import CliRunner, Result

from pinfold.server.cli import main as commands
from pinfold.server.hook import main
from pinfold.store import Store
from pinfold.store.remote.address import Address, read_address
from pinfold.store.remote.outbox import Outbox
from pinfold.store.remote.store import open_remote
from pinfold.store.results import Entry, Pin
from tests.http.serving import Served
from tests.server.hooking import Client, _entry

T = TypeVar("T")
PROJECT = "app"


class Way:
    """A port that leads to a server's, as long as `is_open`.

    The answer to a request that holds `lost` does not come through: once the server has given it, the connection
    breaks. `breaks` counts that. `heard` is all that went to the server.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.is_open = True
        self.lost: bytes | None = None
        self.breaks = 0
        self.heard = bytearray()
        self._connected: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listening.accept()
                self._connected.append(here)
                threading.Thread(target=self._carry, args=(here,), daemon=True).start()

    def _carry(self, here: socket.socket) -> None:
        with here, suppress(OSError):
            if not self.is_open:
                return
            with socket.create_connection(("127.0.0.1", self.target)) as there:
                self._carry_on(here, there)

    def _carry_on(self, here: socket.socket, there: socket.socket) -> None:
        """Carry bytes both ways until one side has ended, or an answer is to be lost."""
        is_lost = False
        while True:
            ready, _, _ = select.select([here, there], [], [])
            for source in ready:
                block = source.recv(65536)
                if source is here:
                    self.heard += block
                if source is there and is_lost:
                    if b"result " in block or b"error " in block:
                        self.breaks += 1
                        return
                    continue
                if not block:
                    return
                (there if source is here else here).sendall(block)
                is_lost = is_lost or (source is here and self.lost is not None and self.lost in block)

    def break_all(self) -> None:
        """Break every connection that there is."""
        for here in self._connected:
            with suppress(OSError):
                here.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Lead nowhere any more."""
        self.break_all()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextmanager
def way_to(target: int) -> Iterator[Way]:
    way = Way(target)
    try:
        yield way
    finally:
        way.close()


class Away(Client):
    """A client at work in the project `folder/app`, whose store is the project `app` of a server behind `port`."""

    def __init__(self, folder: Path, port: int, token: str, session: str = "951ca3bd") -> None:
        super().__init__(folder, session=session, piped=False)
        self.said = ""
        self.port = port
        self.token = token

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/p/{PROJECT}"

    @property
    def address(self) -> Address:
        return read_address(self.url, self.token)

    def environment(self, **more: str) -> dict[str, str]:
        return super().environment(**{"PINFOLD_URL": self.url, "PINFOLD_TOKEN": self.token} | more)

    def event(self, event: str, *, limit_ms: int = 3_000, **fields: Any) -> str:
        """Run a hook, `piped` in a process of its own; return its one line on stderr, or nothing.

        `said` is what it printed.
        """
        given = json.dumps(self.payload(**fields)).encode()
        limit = {"PINFOLD_HOOK_LIMIT_MS": str(limit_ms)}
        if not self.piped:
            self.said, told = self._carried_out(event, given, limit)
            return told
        done = self.run(event, given, **limit)
        assert done.returncode == 0
        assert done.stderr.count(b"\n") <= 1
        self.said = done.stdout.decode()
        return done.stderr.decode()

    def _carried_out(self, event: str, given: bytes, variables: dict[str, str]) -> tuple[str, str]:
        streams = io.TextIOWrapper(io.BytesIO(given)), io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with (
            patch.dict(os.environ, self.environment(**variables), clear=True),
            patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        ):
            assert main([event, "--client", self.name]) == 0
        told = streams[2].getvalue()
        assert told.count("\n") <= 1
        return streams[1].buffer.getvalue().decode(), told

    @property
    def outbox(self) -> Outbox:
        found = [*(self.home / "team").glob("*/outbox")]
        return Outbox(found[0] if found else self.home / "team" / "none")

    def waiting(self) -> list[str]:
        """Return the kinds of what waits, in order."""
        return [each.kind for each in self.outbox.waiting()]


def ask(served: Served, token: str, question: Callable[[Store], Awaitable[T]]) -> T:
    """Ask the server's store one thing, past every way that may be cut."""
    address = read_address(f"http://127.0.0.1:{served.port}/p/{PROJECT}", token)

    async def asking() -> T:
        store = await open_remote(address, "looking-on")
        try:
            return await question(store)
        finally:
            await store.close()

    return anyio.run(asking)


def pins(served: Served, token: str) -> list[Pin]:
    found = ask(served, token, lambda store: store.pins(None, 10_000))
    return sorted(found, key=lambda pin: pin.number)


def entries(served: Served, token: str) -> list[Entry]:
    async def each(store: Store) -> list[Entry]:
        end = await store.log_end()
        found = [await _entry(store, seq) for seq in range(1, end.seq + 1)]
        return [entry for entry in found if entry is not None]

    return ask(served, token, each)


def pinfold(away: Away, *arguments: str) -> Result:
    """Run a command as a person at that machine does."""
    with patch.dict(os.environ, away.environment(CLAUDE_CONFIG_DIR=str(away.folder)), clear=True):
        return CliRunner().invoke(commands, list(arguments))
