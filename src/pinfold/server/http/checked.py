"""A message's body, held to what a line on stdio is: the SDK would take the last of two equal keys, and any depth.

Source: P20, P21.
"""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pinfold.server.messages import INVALID_REQUEST, Noise, Refusal, read_line

_LARGE_BYTES = 256 * 1024
"""From here on a body is looked at beside the event loop."""


class Checked:
    """An application for sound bodies alone; others get an error of JSON-RPC with status 400."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = await Request(scope, receive).body()
        refusal = await _refusal(body)
        if refusal is None:
            await self._app(scope, _again(body, receive), send)
        else:
            await refusal(scope, receive, send)


async def _refusal(body: bytes) -> JSONResponse | None:
    found = await to_thread.run_sync(read_line, body) if len(body) > _LARGE_BYTES else read_line(body)
    if isinstance(found, Refusal):
        error = {"code": found.code, "message": found.reason}
        return JSONResponse({"jsonrpc": "2.0", "id": found.id, "error": error}, 400)
    if isinstance(found, Noise):
        error = {"code": INVALID_REQUEST, "message": found.reason}
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
    return None


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what hands the body out once more, and then goes on."""
    kept: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return kept.pop() if kept else await receive()

    return given
