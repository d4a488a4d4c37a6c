"""A server with one tool on the same SDK: run with the tool's name, `noop` or `insert`.

`insert` adds one row to an SQLite file in the working directory and waits for the disk, as durable writes do.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

Context = ServerRequestContext[Any, Any]


def noop(arguments: dict[str, Any]) -> None:
    """Do nothing."""


def inserter() -> Callable[[dict[str, Any]], None]:
    """Return what inserts the argument `text` durably."""
    db = sqlite3.connect("floor.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE IF NOT EXISTS line (number INTEGER PRIMARY KEY, text TEXT)")
    return lambda arguments: void(db.execute("INSERT INTO line (text) VALUES (?)", (arguments["text"],)))


def void(_: object) -> None:
    """Drop a result."""


def build_server(name: str, act: Callable[[dict[str, Any]], None]) -> Server[Any]:
    """Return a server whose one tool is `act`."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    listed = types.ListToolsResult(tools=[types.Tool(name=name, description=name, input_schema=schema)])
    done = types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return listed

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        act(params.arguments or {})
        return done

    return Server("floor", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve(name: str) -> None:
    """Serve over stdio until the client ends it."""
    server = build_server(name, inserter() if name == "insert" else noop)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1])
