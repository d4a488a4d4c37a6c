"""What the SDK answers to a client's first requests in every protocol version, for `server/ahead.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from pinfold.server.app import build_server
from pinfold.server.service import Service
from pinfold.server.settings import read_settings

_PEER = {"name": "any", "version": "1"}
_META = "io.modelcontextprotocol/"


def _handshake(version: str) -> list[dict[str, Any]]:
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": _PEER}
    return [
        {"jsonrpc": "2.0", "id": "initialize", "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "tools/list", "method": "tools/list"},
    ]


def _stateless(version: str) -> list[dict[str, Any]]:
    values = {"protocolVersion": version, "clientInfo": _PEER, "clientCapabilities": {}}
    envelope = {"_meta": {_META + name: value for name, value in values.items()}}
    return [
        {"jsonrpc": "2.0", "id": method, "method": method, "params": envelope}
        for method in ("server/discover", "tools/list")
    ]


async def _answers(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return method → result, as a server without a store answers."""
    server = build_server(Service(read_settings({"PINFOLD_HOME": "unused"}, Path.cwd())))
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](10)
    out, answers = anyio.create_memory_object_stream[SessionMessage](10)
    found: dict[str, Any] = {}
    async with send, receive, out, answers, anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, receive, out, server.create_initialization_options())
        for message in messages:
            checked = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            await send.send(SessionMessage(checked))
            if "id" in message:
                answer = await answers.receive()
                body = answer.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                found[body["id"]] = body["result"]
        await send.aclose()
    return found


def frozen_page() -> str:
    """Return the content of `ahead.json`: protocol version → method → result."""
    versions = {version: anyio.run(_answers, _handshake(version)) for version in HANDSHAKE_PROTOCOL_VERSIONS}
    versions[LATEST_MODERN_VERSION] = anyio.run(_answers, _stateless(LATEST_MODERN_VERSION))
    return json.dumps(versions, indent=1, ensure_ascii=True) + "\n"
