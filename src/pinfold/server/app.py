"""The MCP wiring: five tools, the resources `pinfold://{pointer}`, the prompt `resume`.

Domain errors reach the model as tool errors of one line; anything else is a bug, logged without anybody's values.
Source: design 1 (Errors), design 2.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import unquote

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from pinfold import __version__
from pinfold.server.notes import note_failure
from pinfold.store.errors import InvalidInputError, NotFoundError, PinfoldError
from pinfold.tools import INSTRUCTIONS, TOOLS, call, input_schema
from pinfold.tools.tool import Desk, Reply, Tool

Context = ServerRequestContext[Any, Any]

SEARCH = "search_history"
"""Looks into what is new in the client's transcript, too."""

LISTED = ("brief", "pins", "artifacts", "checkpoints")
"""Listings that are offered as resources of their own."""

_DAY_MS = 24 * 60 * 60 * 1000
_SCHEME = "pinfold://"
_WHOLE = 20_000


class Desks(Protocol):
    """Where calls are worked at: over stdio one project's, over HTTP that of each request."""

    async def desk_of(self, ctx: Context) -> Desk:
        """Return the surroundings of one call; raises `PinfoldError`."""

    async def read_on(self, desk: Desk) -> None:
        """Take in what is new in the caller's transcript, where this machine has it."""


def build_server(desks: Desks) -> Server[Any]:
    """Return the server for one place of work; the same one for every transport and for tests."""
    app = _App(desks)
    fixed = CacheHint(ttl_ms=_DAY_MS, scope="public")
    return Server(
        "pinfold",
        version=__version__,
        title="pinfold",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": fixed, "prompts/list": fixed, "resources/list": fixed},
        on_list_tools=app.list_tools,
        on_call_tool=app.call_tool,
        on_list_resources=app.list_resources,
        on_list_resource_templates=app.list_resource_templates,
        on_read_resource=app.read_resource,
        on_list_prompts=app.list_prompts,
        on_get_prompt=app.get_prompt,
    )


def published(tool: Tool) -> types.Tool:
    """Return a tool as `tools/list` publishes it."""
    hints = tool.annotations
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=hints["read_only"],
            destructive_hint=hints["destructive"],
            idempotent_hint=hints["idempotent"],
            open_world_hint=hints["open_world"],
        ),
        _meta=dict(tool.meta) or None,
    )


def client_name(ctx: Context) -> str:
    """Return the name that the client gave itself; "" where it gave none."""
    params = ctx.session.client_params
    return params.client_info.name if params is not None and params.client_info is not None else ""


def _tool_error(text: str) -> types.CallToolResult:
    line = " ".join(text.split())
    return types.CallToolResult(content=[types.TextContent(type="text", text=line)], is_error=True)


class _App:
    """The handlers of one server."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[published(tool) for tool in TOOLS])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        name = params.name
        if name not in {tool.name for tool in TOOLS}:
            known = ", ".join(tool.name for tool in TOOLS)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool; pinfold has {known}.")
        try:
            desk = await self._desks.desk_of(ctx)
            if name == SEARCH:
                await self._desks.read_on(desk)
            reply = await call(desk, name, params.arguments or {})
        except PinfoldError as error:
            return _tool_error(f"{name}: {error}")
        except Exception as error:  # a bug must not end the server
            note_failure(name, error)
            return _tool_error(
                f"{name} failed inside pinfold; the details are in the server's log on stderr."
            )
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)], structured_content=reply.structured
        )

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = [
            types.Resource(uri=f"{_SCHEME}{name}", name=name, mime_type="text/plain") for name in LISTED
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_resource_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=f"{_SCHEME}{{pointer}}",
            name="pointer",
            description="Any pointer: P7, A12, A12#L10-40, C3, H142, F2, S9, or a listing such as pins.",
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        pointer = unquote(uri.removeprefix(_SCHEME))  # a template expanded by the book has %23 for #
        reply = await self._answer(uri, lambda desk: _fetch(desk, pointer), ctx)
        text = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=reply.text)
        return types.ReadResourceResult(contents=[text])

    async def list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name="resume", title="Resume", description="The brief: pins, state, pointers.")
            ]
        )

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != "resume":
            raise MCPError(types.INVALID_PARAMS, "Unknown prompt; pinfold has resume.")
        reply = await self._answer("resume", lambda desk: _fetch(desk, "brief"), ctx)
        text = f"What pinfold kept of this project, as a base to go on from:\n\n{reply.text}"
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description="The brief of this project", messages=[message])

    async def _answer(self, asked: str, read: Callable[[Desk], Awaitable[Reply]], ctx: Context) -> Reply:
        try:
            return await read(await self._desks.desk_of(ctx))
        except (InvalidInputError, NotFoundError) as error:
            raise MCPError(types.INVALID_PARAMS, str(error), {"uri": asked}) from None
        except PinfoldError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None


async def _fetch(desk: Desk, pointer: str) -> Reply:
    return await call(desk, "fetch_pointer", {"pointer": pointer, "max_tokens": _WHOLE})
