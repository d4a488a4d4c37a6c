"""How the pages are served: on this machine's own address, until nobody looks any more."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import NoReturn

import anyio
import click
import uvicorn
from anyio import to_thread

from pinfold.server.reading_only import reading_only
from pinfold.server.settings import Settings
from pinfold.server.stores import open_existing
from pinfold.server.terminals import is_terminal
from pinfold.server.ui.gate import Gate
from pinfold.server.ui.routes import application
from pinfold.store import Store
from pinfold.store.errors import InvalidInputError

ADDRESS = "127.0.0.1"
_GRACE_S = 2
_LOOK_S = 1
_MOST_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Manner:
    """How to serve: at which port (0: any that is free), how long without a visit (None: for ever), with a browser."""

    port: int = 0
    idle_s: float | None = None
    opens_browser: bool = True


def serve(settings: Settings, manner: Manner) -> None:
    """Serve the pages until Ctrl-C, SIGTERM or a long time without a visit; the address is the first line printed.

    Raises `NotFoundError` where nothing has been kept for the project, `InvalidInputError` for a port that is taken.
    """
    try:
        anyio.run(_serve, settings, manner)
    except KeyboardInterrupt:
        click.echo("pinfold: ended.", err=True)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


async def _serve(settings: Settings, manner: Manner) -> None:
    store = await open_existing(settings)
    try:
        with _listening(manner.port) as listener:
            await _answer(store, listener, manner)
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as error:
        raise InvalidInputError(
            f"Port {port} cannot be used: {os.strerror(error.errno or 0)}.",
            "Name another one, or none: then any that is free is taken.",
        ) from error


async def _answer(store: Store, listener: socket.socket, manner: Manner) -> None:
    port = listener.getsockname()[1]
    gate = Gate(application(reading_only(store)), [f"{ADDRESS}:{port}", f"localhost:{port}"])
    await to_thread.run_sync(_load_tokenizer)  # the first page counts; who asks for it shall not wait
    signal.signal(signal.SIGTERM, _leave)  # the server raises what it caught again, when all is answered
    _announce(gate, f"http://{ADDRESS}:{port}", manner)
    await _server(gate, manner).serve([listener])


def _server(gate: Gate, manner: Manner) -> uvicorn.Server:
    async def end_when_idle() -> None:
        if manner.idle_s is not None and time.monotonic() - gate.last_visit > manner.idle_s:
            click.echo(f"pinfold: no visit for {manner.idle_s / 60:g} minutes; ended.", err=True)
            server.should_exit = True

    config = uvicorn.Config(
        gate,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_GRACE_S,
        callback_notify=end_when_idle,
        timeout_notify=_LOOK_S,
    )
    server = uvicorn.Server(config)
    return server


def _announce(gate: Gate, address: str, manner: Manner) -> None:
    """Print the address, and show it to who sits at a terminal; the socket is listening already."""
    click.echo(f"{address}/{gate.token}/")
    until = "" if manner.idle_s is None else f" It ends after {manner.idle_s / 60:g} minutes without a visit."
    click.echo(f"Whoever has this address can read the project. Ctrl-C ends it.{until}", err=True)
    if manner.opens_browser and is_terminal(sys.stdout) and _has_desktop():
        visit = partial(webbrowser.open, f"{address}/{gate.ticket}")
        threading.Thread(target=visit, daemon=True).start()  # some return only when they are closed


def _has_desktop() -> bool:
    """Whether a browser would have a window: where it has none, it would take over the terminal."""
    return sys.platform in ("win32", "darwin") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _load_tokenizer() -> None:
    from pinfold.context.tokens import count

    count("a")
