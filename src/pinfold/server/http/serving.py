"""Serving over HTTP: bind, say where, answer until told to end, let what was started finish.

Source: P18, P27; docs/decisions/0016.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

import anyio
import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from pinfold.server.http.connection import Connection
from pinfold.server.http.gate import Gate, Rules
from pinfold.server.http.listening import ListenAddress, bound_to, listen
from pinfold.server.http.names import Names
from pinfold.server.http.open_stores import Opener, OpenStores
from pinfold.server.http.record import log_in_json
from pinfold.server.http.routes import behind_the_gate
from pinfold.server.http.tokens import TokenFile
from pinfold.server.lifetime import HARD_LIMIT_S
from pinfold.store.errors import InvalidInputError
from pinfold.tools.tool import Limits

DRAIN_S = 3.0
"""How long started calls may take to finish when the server ends; behind that they are cut off."""

IDLE_S = 30
"""How long a connection is kept without a request."""

_CUT_OFF_S = 1
_DESCRIPTORS = 4_096
"""Of open files: for all connections, and six for each of the stores."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is served: where, under which further names, for which tokens, and the project of callers without one."""

    address: ListenAddress
    names: tuple[str, ...]
    tokens: TokenFile
    home: str
    opener: Opener
    limits: Limits

    def check(self) -> None:
        """Raise `InvalidInputError` where anybody on the network could enter without a token."""
        if not self.address.is_loopback and not self.tokens.tokens():
            raise InvalidInputError(
                f"{self.address} can be reached from other machines, and there is no token yet.",
                "Add one: pinfold token add NAME --project PROJECT. Or listen at 127.0.0.1.",
            )


def serve_over_http(plan: Plan, say: Callable[[str], None]) -> int:
    """Serve until a signal; return the exit status, 128 + n after signal n. `say` prints a line for a person.

    Raises `InvalidInputError` for an address that cannot be had, or not without tokens.
    """
    plan.check()
    listening = listen(plan.address)
    _allow_descriptors()
    log_in_json()
    greeting = _greeting(plan, bound_to(listening))
    return _Server(_gate(plan), lambda: say(greeting)).serve_until_told(listening)


def _allow_descriptors() -> None:
    """Let this process have more files open than shells allow at first (256 on macOS), up to the system's own limit."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _gate(plan: Plan) -> Gate:
    stores = OpenStores(plan.opener)
    home = plan.home if plan.address.is_loopback else None
    rules = Rules(Names.of(plan.names), plan.tokens, home)
    return Gate(behind_the_gate(stores, plan.limits), stores, rules)


def _greeting(plan: Plan, address: ListenAddress) -> str:
    if plan.tokens.exists():
        return f"http://{address}/p/PROJECT/mcp\nCallers need a token of `pinfold token add`. Ctrl-C ends."
    return (
        f"http://{address}/mcp\nWithout tokens: any program on this machine may read and write. Ctrl-C ends."
    )


class _Server(uvicorn.Server):
    """Ends in two steps: what comes is turned away while what runs may finish; then the connections are closed."""

    def __init__(self, gate: Gate, greet: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                gate,
                http=Connection,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=IDLE_S,
                timeout_graceful_shutdown=_CUT_OFF_S,
            )
        )
        self._gate = gate
        self._greet = greet
        self._told: int | None = None
        self._patience_ends = 0.0

    def serve_until_told(self, listening: socket.socket) -> int:
        """Serve; return the exit status."""
        anyio.run(self.serve, [listening])
        return 0 if self._told is None else 128 + self._told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self._greet()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear signals while serving; the exit status tells of them, so that none is raised again."""
        heeded = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, before in heeded.items():
                signal.signal(number, before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; a second signal waits for nothing."""
        if self._told is not None:
            self.should_exit = self.force_exit = True
            return
        self._told, self._gate.ending = sig, True
        self._patience_ends = time.monotonic() + DRAIN_S
        if sys.platform != "win32":  # should anything be stuck, the kernel ends the process
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, HARD_LIMIT_S)

    async def on_tick(self, counter: int) -> bool:
        """Look now and again whether it is time to close."""
        is_over = self._told is not None and (
            not self._gate.running or time.monotonic() > self._patience_ends
        )
        return await super().on_tick(counter) or is_over
