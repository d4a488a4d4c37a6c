"""A server of three tools behind the armour: `echo`, `sleep` and `misbehave`. Run as a script by the tests.

With the path of a FIFO as its argument it first blocks its main thread until that is opened for writing, as a
slow import would. On stderr it says when it waits there, and when a tool begins to sleep.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
import threading
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


def _stop_in_c() -> None:
    """Stop this thread in C, where no signal wakes the interpreter on it, and only then say so."""
    libc, mutex, in_c = ctypes.CDLL(None), ctypes.create_string_buffer(128), threading.Lock()

    def say() -> None:
        with in_c:
            os.write(2, b"sleeping\n")

    libc.pthread_mutex_init(mutex, None)
    libc.pthread_mutex_lock(mutex)
    in_c.acquire()
    threading.Thread(target=say, daemon=True).start()
    sys.setswitchinterval(
        60
    )  # the other thread runs when this one lets go of the interpreter: inside the last call
    in_c.release()
    libc.pthread_mutex_lock(mutex)


async def _echo(arguments: dict[str, Any]) -> object:
    return arguments.get("text", "")


async def _sleep(arguments: dict[str, Any]) -> object:
    """Sleep in the `task`, in a `thread` that cannot be cancelled, or stop the event `loop` for good."""
    import anyio.to_thread

    match arguments:
        case {"where": "thread", "s": s}:
            os.write(2, b"sleeping\n")
            await anyio.to_thread.run_sync(time.sleep, s)
        case {"where": "loop"}:
            _stop_in_c()
        case {"s": s}:
            os.write(2, b"sleeping\n")
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
            import mcp.server.lowlevel  # noqa: F401 - how long that takes is not what is tested

            os.write(2, b"starting\n")
            os.close(os.open(sys.argv[1], os.O_RDONLY))
        import anyio

        anyio.run(serve, wire)


if __name__ == "__main__":
    main()
