"""How a request is seen through: its body within a size and a time, its answer read in time, no bug told to a caller.

Source: P20, P26; docs/decisions/0016.
"""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from typing import Any

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pinfold.server.framing import MAX_LINE_BYTES
from pinfold.server.notes import note_failure

MAX_BODY_BYTES = MAX_LINE_BYTES
"""Of a message, as on stdio."""

SILENCE_S = 10.0
"""How long a body may stand still, and an answer wait for its reader."""

MAX_STORE_BODY_BYTES = 400 * 1024 * 1024
"""Of a request to the store itself, which may carry the largest artifact."""

BODY_S = 60.0
"""How long a whole body may take; one to the store as long as it takes, if it does not stand still."""

_FAILED = "The server failed on this request; its log says where.\n"
_UNKNOWN = "The server is ending; whether this took effect is unknown. Send it again with the same key.\n"
_SLOW = "The request did not arrive in time; nothing was done.\n"
_HUGE = "The request is longer than {:,} bytes; nothing was done.\n"


class Answer:
    """Sends an answer on, with headers that every answer has, and remembers its status (0: there was none)."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        """Send one message. Raises `TimeoutError` when nobody reads it in time."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            ours = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
            kept = [pair for pair in message.get("headers", ()) if pair[0] != b"cache-control"]
            message = {**message, "headers": [*kept, *ours]}
        with anyio.fail_after(SILENCE_S):
            await self._send(message)


class _SlowError(Exception):
    """A body that does not come."""


class _LeftError(Exception):
    """A client that left in the midst of its body: what came is no message."""


class _HugeError(Exception):
    """A body over the limit (bytes)."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit


class _Body:
    """A request's body as it comes in."""

    def __init__(self, receive: Receive, path: str) -> None:
        is_large = path.startswith("/store/")
        self._receive = receive
        self._limit = MAX_STORE_BODY_BYTES if is_large else MAX_BODY_BYTES
        self._deadline = math.inf if is_large else anyio.current_time() + BODY_S
        self._size = 0
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:  # what is waited for now is that the client leaves
            return await self._receive()
        message = await self._next()
        if message["type"] == "http.disconnect":
            raise _LeftError
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            raise _HugeError(self._limit)
        self._is_whole = not message.get("more_body", False)
        return message

    async def _next(self) -> Message:
        with anyio.move_on_after(min(SILENCE_S, self._deadline - anyio.current_time())):
            return await self._receive()
        raise _SlowError


def guarded(app: ASGIApp) -> ASGIApp:
    """Return the application within limits: 413 is too long, 408 too slow, 500 a bug."""

    async def seen_through(scope: Scope, receive: Receive, answer: Send) -> None:
        assert isinstance(answer, Answer)
        try:
            await app(scope, _Body(receive, scope["path"]), answer)
        except TimeoutError:  # of `Answer`: nobody reads, so nobody can be told
            raise
        except _LeftError:
            return
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await _instead(PlainTextResponse(_UNKNOWN, 500), scope, receive, answer)
            raise
        except Exception as error:
            await _instead(_failure(error), scope, receive, answer)

    return seen_through


async def _instead(response: ASGIApp, scope: Scope, receive: Receive, answer: Answer) -> None:
    """Answer in the application's place, unless it has begun to."""
    if not answer.status:
        await response(scope, receive, answer)


def _failure(error: Exception) -> PlainTextResponse:
    if isinstance(error, _SlowError):
        return PlainTextResponse(_SLOW, 408)
    if isinstance(error, _HugeError):
        return PlainTextResponse(_HUGE.format(error.limit), 413)
    note_failure("a request", error)
    return PlainTextResponse(_FAILED, 500)
