"""Serving over stdio: the wire first, then the parts, then the server, until the client ends it."""

from __future__ import annotations

import os
from pathlib import Path

from pinfold.server.ahead import Ahead
from pinfold.server.lifetime import guard
from pinfold.server.notes import note
from pinfold.server.settings import Settings, read_settings
from pinfold.server.wire import Wire

_AT_A_TERMINAL = "serving MCP on stdin, as clients start it; see pinfold --help. Ctrl-C ends."


def serve_over_stdio(folder: Path | None) -> None:
    """Serve the project of `folder` (default: as the environment says); the process ends with the client.

    Raises `InvalidInputError` for settings that cannot be used.
    """
    settings = read_settings(folder=folder)
    with guard() as life:
        if os.isatty(0):
            note(_AT_A_TERMINAL)
        wire = Wire.open_stdio(life, Ahead().take)
        import anyio  # the wire reads while this and the SDK are being imported

        anyio.run(_serve, settings, wire)


async def _serve(settings: Settings, wire: Wire) -> None:
    from pinfold.server.app import build_server
    from pinfold.server.service import Service
    from pinfold.server.stdio import serve_stdio

    service = Service(settings)
    try:
        await serve_stdio(build_server(service), wire)
    finally:
        await service.close()
