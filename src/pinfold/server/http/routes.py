"""What lies behind the gate: all routes of the server, each for one project that the gate has opened.

A route gets at a store by `visit_of(request.scope)` alone. Source: docs/decisions/0016.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp_types import CallToolResult
from mcp_types.methods import SPEC_CLIENT_METHODS
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from pinfold.server.app import build_server
from pinfold.server.http.answering import MAX_BODY_BYTES
from pinfold.server.http.checked import Checked
from pinfold.server.http.desks import VisitDesks
from pinfold.server.http.open_stores import OpenStores
from pinfold.server.http.verbs import carry_out, introduce
from pinfold.server.http.visit import visit_of
from pinfold.tools import TOOLS, input_schema
from pinfold.tools.tool import Limits

NOT_HERE: ASGIApp = PlainTextResponse("There is nothing here, or the token does not open it.\n", 404)
"""What is not there and what is not theirs: one answer."""

_SCHEMAS = {tool.name: input_schema(tool) for tool in TOOLS}


def behind_the_gate(stores: OpenStores, limits: Limits) -> Router:
    """Return the routes: MCP in both eras, without sessions, each request answered as one JSON object."""
    server = build_server(VisitDesks(limits))
    server.middleware.append(_noted)
    # Else the SDK lists all tools at each call, to look at one's headers.
    server.get_tool_input_schema = _SCHEMAS.get
    speaking = StreamableHTTPSessionManager(
        server, stateless=True, json_response=True, max_request_body_size=MAX_BODY_BYTES
    )

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        async with speaking.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(stores.tidy)
            yield
            tasks.cancel_scope.cancel()
        await stores.close()

    routes = [
        Route("/mcp", Checked(StreamableHTTPASGIApp(speaking)), methods=["POST"]),
        Route("/store", introduce, methods=["GET"]),
        Route("/store/{verb}", carry_out, methods=["POST"]),
    ]
    return Router(routes, redirect_slashes=False, default=NOT_HERE, lifespan=lifespan)


async def _noted(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Note for the log what is called, as far as the protocol and the catalogue know it."""
    assert ctx.request is not None
    line = visit_of(ctx.request.scope).line
    line.method = ctx.method if ctx.method in SPEC_CLIENT_METHODS else None
    name = (ctx.params or {}).get("name")
    line.tool = name if isinstance(name, str) and name in _SCHEMAS else None
    result = await call_next(ctx)
    line.failed = _is_error(result)
    return result


def _is_error(result: HandlerResult) -> bool:
    """Whether a tool said that it failed: as a model, or as what goes out."""
    if isinstance(result, CallToolResult):
        return bool(result.is_error)
    return isinstance(result, dict) and result.get("isError") is True
