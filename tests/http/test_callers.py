"""Whose conversation a call over HTTP belongs to, as far as its client tells."""

from __future__ import annotations

import json
from pathlib import Path

import anyio

from pinfold.store.commands import StartSession
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.http.serving import JSON_HEADERS, Served, bearer
from tests.server.peer import META

LEGACY = {name: text for name, text in JSON_HEADERS.items() if name != "MCP-Protocol-Version"}


def _checkpoint(server: Served, token: str, goal: str, meta: object = None, **headers: str) -> int:
    """Save a checkpoint in the older protocol; return the session that it went to."""
    params = {"name": "checkpoint_state", "arguments": {"goal": goal}} | ({"_meta": meta} if meta else {})
    sent = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    reply = server.ask("POST", "/mcp", sent.encode(), LEGACY | bearer(token) | headers)
    session = reply.told["structuredContent"]["session"]
    assert isinstance(session, int)
    return session


def test_a_thread_that_the_client_names_is_one_session_and_another_is_another(server: Served) -> None:
    token = server.token("threads", "threads")
    first = _checkpoint(server, token, "one", {"threadId": "t-1"})
    second = _checkpoint(server, token, "two", {"threadId": "t-2"})
    assert first != second
    assert _checkpoint(server, token, "three", {"threadId": "t-1"}) == first


def test_the_session_header_names_the_conversation(server: Served) -> None:
    token = server.token("headed", "headed")
    first = _checkpoint(server, token, "one", **{"Pinfold-Session": "a"})
    assert _checkpoint(server, token, "two", **{"Pinfold-Session": "b"}) != first
    assert _checkpoint(server, token, "three", **{"Pinfold-Session": "a"}) == first


def test_two_tokens_whose_clients_tell_nothing_are_two_conversations(server: Served) -> None:
    anna, bert = server.token("anna", "both"), server.token("bert", "both")
    first = _checkpoint(server, anna, "one")
    assert _checkpoint(server, bert, "two") != first
    assert _checkpoint(server, anna, "three") == first


def test_a_client_that_tells_nothing_is_in_the_conversation_that_a_hook_of_its_token_told_of(
    server: Served,
) -> None:
    token = server.token("carl", "hooked")
    before = _checkpoint(server, token, "one", **{"User-Agent": "claude-code/2.1.332"})
    begun = anyio.run(_session_start, server.home / "projects" / "hooked", "token-carl")
    assert begun != before
    assert _checkpoint(server, token, "two", **{"User-Agent": "claude-code/2.1.332"}) == begun
    assert _checkpoint(server, token, "three", {"threadId": "t-1"}) not in (before, begun)


async def _session_start(folder: Path, run: str) -> int:
    """Have a hook of Claude Code begin a conversation; return its session."""
    store = await open_store(folder, "hooked")
    try:
        caller = Caller("claude-code", "2f9c1a77-0000-4000-8000-000000000001", "hook")
        return (await store.start_session(StartSession(caller, run))).session
    finally:
        await store.close()


def test_the_user_agent_says_which_client_it_is_where_the_protocol_does_not(server: Served) -> None:
    token = server.token("agents", "agents")
    first = _checkpoint(server, token, "one", **{"User-Agent": "claude-code/2.1.332 (cli)"})
    assert _checkpoint(server, token, "two", **{"User-Agent": "codex_cli_rs/0.171"}) != first


def test_in_the_newest_protocol_the_client_names_itself(server: Served) -> None:
    token = server.token("named", "named")
    told = server.call(token, "named", "checkpoint_state", goal="one").told["structuredContent"]
    again = server.call(token, "named", "checkpoint_state", goal="two").told["structuredContent"]
    assert META["io.modelcontextprotocol/clientInfo"] == {"name": "peer", "version": "1"}
    assert told["session"] == again["session"]
