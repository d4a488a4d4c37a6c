from __future__ import annotations

from typing import Any

import pytest

from pinfold.server.clients import identify
from tests.store.children import ended

CLAUDE = {"CLAUDE_CODE_SESSION_ID": "5e1f"}
CODEX: dict[str, Any] = {
    "threadId": "019a",
    "x-codex-turn-metadata": {"thread_id": "019b", "session_id": "019c"},
}


def test_claude_code_is_known_by_its_environment() -> None:
    assert identify("claude-code", {}, CLAUDE) == ("claude-code", "5e1f")
    assert identify("", {}, CLAUDE) == ("claude-code", "5e1f")


def test_codex_is_known_by_what_it_sends_with_each_call() -> None:
    assert identify("codex-mcp-client", CODEX, {}) == ("codex", "019a")
    turn = {"x-codex-turn-metadata": CODEX["x-codex-turn-metadata"]}
    assert identify("codex-mcp-client", turn, {}) == ("codex", "019b")
    assert identify("", {"x-codex-turn-metadata": {"session_id": "019c"}}, {}) == ("codex", "019c")


def test_one_process_serves_several_codex_threads() -> None:
    assert identify("codex", {"threadId": "one"}, {}) != identify("codex", {"threadId": "two"}, {})


def test_codex_started_from_within_claude_code_is_codex() -> None:
    assert identify("codex", CODEX, CLAUDE) == ("codex", "019a")


def test_another_client_that_inherits_claudes_environment_is_not_claude() -> None:
    client, conversation = identify("opencode", {}, CLAUDE)
    assert client == "opencode"
    assert conversation != "5e1f"


def test_a_client_without_an_id_has_one_conversation_a_process() -> None:
    here = identify("some-client", {}, {})
    assert here == identify("some-client", {}, {})
    script = "from pinfold.server.clients import identify; print(identify('some-client', {}, {})[1])"
    others = {ended(script).stdout.strip() for _ in range(2)}
    assert len(others | {here[1]}) == 3
    assert identify("", {}, {})[0] == "unknown"


@pytest.mark.parametrize(
    "meta",
    [
        {"threadId": None},
        {"threadId": ""},
        {"threadId": 7},
        {"threadId": ["a"]},
        {"x-codex-turn-metadata": "text"},
        {"x-codex-turn-metadata": None},
        {"x-codex-turn-metadata": {"thread_id": 7}},
        {"progressToken": 1},
    ],
)
def test_odd_metadata_names_nobody(meta: dict[str, Any]) -> None:
    assert identify("some-client", meta, {}) == identify("some-client", {}, {})


@pytest.mark.parametrize("name", ["z" * 501, "z" * 1_000_000, "a\0b", "a\nb", "\x1b[31m"])
def test_a_name_that_is_none_stands_as_its_digest_and_another_is_another(name: str) -> None:
    for client, conversation in (identify(name, {}, {}, name), identify("codex", {"threadId": name}, {})):
        assert conversation.isprintable()
        assert len(client) + len(conversation) < 200
        assert conversation != identify("codex", {"threadId": f"{name}!"}, {})[1]
    assert identify("codex", {"threadId": "z" * 500}, {})[1] == "z" * 500
