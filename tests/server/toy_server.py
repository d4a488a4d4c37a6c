"""A server of three tools behind the armour: `echo`, `sleep` and `misbehave`. Run as a script by the tests.

With the path of a FIFO as its argument it first blocks its main thread until that is opened for writing, as a
slow import would. On stderr it says when it waits there, and when a tool begins to sleep.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from pinfold.server.lifetime import guard
from pinfold.server.wire import Wire


def _exits_the_interpreter() -> str:
    sys.exit(3)


def _raises(error: BaseException) -> Callable[[], str]:
    def raise_it() -> str:
        raise error

    return raise_it


def _prints() -> str:
    print("a print")
    print("a print to the original", file=sys.__stdout__, flush=True)
    sys.stdout.flush()
    return "printed"


def _writes_to_fd_1() -> str:
    os.write(1, b"raw bytes\n")
    return "written"


def _starts_a_child() -> str:
    child = subprocess.run([sys.executable, "-c", "import sys; print('child', repr(sys.stdin.read()))"])
    return f"child ended with {child.returncode}"


def _warns() -> str:
    warnings.warn("a warning", stacklevel=1)
    return "warned"


MISBEHAVIOURS: dict[str, Callable[[], object]] = {
    "print": _prints,
    "fd 1": _writes_to_fd_1,
    "child": _starts_a_child,
    "warn": _warns,
    "read stdin": lambda: repr(sys.stdin.read()),
    "lone surrogate": lambda: "a\ud800b\udfffc\U0001f600",
    "line separators": lambda: "a\u2028b\u2029c\x85d\x00e",
    "ValueError": _raises(ValueError("a secret value")),
    "RecursionError": _raises(RecursionError()),
    "MemoryError": _raises(MemoryError()),
    "SystemExit": _exits_the_interpreter,
    "KeyboardInterrupt": _raises(KeyboardInterrupt()),
    "GeneratorExit": _raises(GeneratorExit()),
    "CancelledError": _raises(asyncio.CancelledError()),
    "StopIteration": _raises(StopIteration()),
    "BaseExceptionGroup": _raises(BaseExceptionGroup("two", [SystemExit(1), ValueError()])),
    "not a result": object,
    "big": lambda: "x" * 2_000_000,
}


async def _echo(arguments: dict[str, Any]) -> object:
    return arguments.get("text", "")


async def _sleep(arguments: dict[str, Any]) -> object:
    """Sleep in the `task`, in a `thread` that cannot be cancelled, or in the event `loop` itself."""
    import anyio.to_thread

    os.write(2, b"sleeping\n")
    match arguments:
        case {"where": "thread", "s": s}:
            await anyio.to_thread.run_sync(time.sleep, s)
        case {"where": "loop", "s": s}:
            time.sleep(s)
        case {"s": s}:
            await asyncio.sleep(s)
    return "slept"


async def _misbehave(arguments: dict[str, Any]) -> object:
    return MISBEHAVIOURS[arguments["how"]]()


TOOLS = {"echo": _echo, "sleep": _sleep, "misbehave": _misbehave}


async def serve(wire: Wire) -> None:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        TextContent,
        Tool,
    )

    from pinfold.server.stdio import serve_stdio

    async def list_tools(
        ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in TOOLS])

    async def call_tool(ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> Any:
        said = await TOOLS[params.name](params.arguments or {})
        if not isinstance(said, str):
            return said
        return CallToolResult(content=[TextContent(type="text", text=said)])

    await serve_stdio(Server("toy", on_list_tools=list_tools, on_call_tool=call_tool), wire)


def main() -> None:
    with guard() as life:
        wire = Wire.open_stdio(life)
        if len(sys.argv) > 1:
            os.write(2, b"starting\n")
            os.close(os.open(sys.argv[1], os.O_RDONLY))
        import anyio

        anyio.run(serve, wire)


if __name__ == "__main__":
    main()
