"""The MCP SDK's server on a `Wire`: both protocol eras, and an answer to every request it lets fall.

Source: P18 to P21.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from pinfold.server.messages import INTERNAL_ERROR, INVALID_REQUEST, Body, Message, RequestId
from pinfold.server.notes import note, note_failure
from pinfold.server.wire import Wire

_FAILED = "The server failed on this request; its log says where."


async def serve_stdio(server: Server[Any], wire: Wire) -> None:
    """Serve the client at the other end of `wire` until its lifetime ends, and close what the SDK opened.

    Before that, the wire has answered what was running. Adds a middleware, so serve a server only once.
    """
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    wire.life.on_ending(partial(loop.call_soon_threadsafe, over.set))
    server.middleware.insert(0, _contain)
    async with send, receive, anyio.create_task_group() as tasks:
        tasks.start_soon(_run, server, receive, _Outlet(wire), over)
        wire.attach(_Inlet(wire, loop, send).take)
        await over.wait()
        await send.aclose()


async def _run(
    server: Server[Any],
    receive: MemoryObjectReceiveStream[SessionMessage | Exception],
    outlet: _Outlet,
    over: asyncio.Event,
) -> None:
    try:
        await server.run(receive, outlet, server.create_initialization_options())
    finally:
        over.set()


@dataclass(frozen=True, slots=True)
class _Inlet:
    """Carries messages from the reading thread into the event loop, checked as the SDK wants them."""

    wire: Wire
    loop: asyncio.AbstractEventLoop
    send: MemoryObjectSendStream[SessionMessage | Exception]

    def take(self, message: Message) -> None:
        try:
            checked = jsonrpc_message_adapter.validate_python(message.body, by_name=False)
        except Exception:
            self._refuse(message)
            return
        if self._is_ambiguous_cancel(message.body):
            return
        item = SessionMessage(checked, None if message.id is None else self._metadata(message.id))
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._push, item)

    def _refuse(self, message: Message) -> None:
        if message.id is None:
            note("a notification or response that the protocol does not know was dropped")
        else:
            self.wire.send_error(message.id, INVALID_REQUEST, "This is not a request of the protocol.")

    def _is_ambiguous_cancel(self, body: Body) -> bool:
        """Say whether the SDK, to which 7 and "7" are one id, could cancel the wrong one of two requests."""
        if body.get("method") != "notifications/cancelled":
            return False
        target = (body.get("params") or {}).get("requestId")
        if not isinstance(target, int | str):
            return False
        meant = coerce_request_id(target)
        return sum(coerce_request_id(one) == meant for one in self.wire.ledger.open_requests()) > 1

    def _metadata(self, request: RequestId) -> ServerMessageMetadata:
        async def forgo() -> None:
            self.wire.forgo(request)

        return ServerMessageMetadata(on_request_unanswered=forgo)

    def _push(self, item: SessionMessage) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.send.send_nowait(item)


class _Outlet:
    """The SDK's write stream: what it sends goes to the wire at once, or becomes an error."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def send(self, item: SessionMessage, /) -> None:
        try:
            self._wire.send(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))
        except Exception as error:
            note(f"a message could not be written ({type(error).__name__})")
            request = getattr(item.message, "id", None)
            if request is not None and not hasattr(item.message, "method"):
                self._wire.send_error(request, INTERNAL_ERROR, _FAILED)

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> _Outlet:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


async def _contain(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Answer whatever a tool raises with an error: nothing may pass that would end the SDK's loop."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        note_failure(ctx.method, error)
        raise MCPError(code=INTERNAL_ERROR, message=_FAILED) from None


def _is_cancelled() -> bool:
    """Tell a cancellation of this task from one that a tool merely let through or made up."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
