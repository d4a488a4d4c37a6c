"""The official SDK as a client, in both eras of the protocol, against a real server."""

from __future__ import annotations

from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent, TextResourceContents

from tests.http.serving import Served, bearer

Mode = Literal["legacy", "2026-07-28"]


async def _turn(url: str, token: str, mode: Mode) -> dict[str, Any]:
    """Have a whole turn; return what was told."""
    async with (
        httpx2.AsyncClient(headers=bearer(token), timeout=20) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        tools = await client.list_tools()
        pinned = await client.call_tool("pin_decision", {"text": "zstd level 7", "why": "level 3 left 41 GB"})
        found = await client.call_tool("search_history", {"query": "zstd"})
        brief = await client.read_resource("pinfold://brief")
        prompt = await client.get_prompt("resume")
        wrong = await client.call_tool("fetch_pointer", {"pointer": "P99"})
    (content,), (read,) = pinned.content, brief.contents
    assert isinstance(content, TextContent)
    assert isinstance(read, TextResourceContents)
    return {
        "tools": [tool.name for tool in tools.tools],
        "pinned": content.text.split(",")[0],
        "found": found.structured_content and [hit["pointer"] for hit in found.structured_content["hits"]],
        "brief": "zstd level 7" in read.text,
        "prompt": "zstd level 7" in str(prompt.messages[0].content),
        "wrong": wrong.is_error,
    }


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_whole_turn_in_either_era(server: Served, mode: Mode) -> None:
    project = f"era-{mode}"
    token = server.token(project, project)
    told = anyio.run(_turn, f"http://127.0.0.1:{server.port}/p/{project}/mcp", token, mode)
    assert told == {
        "tools": ["pin_decision", "spill_artifact", "fetch_pointer", "search_history", "checkpoint_state"],
        "pinned": "P1 decision pinned",
        "found": ["P1"],
        "brief": True,
        "prompt": True,
        "wrong": True,
    }
