"""Installing for a project of a team's server: the address goes into the files, the token never."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pinfold.server.install.place import Launch
from tests.server.installing import COMMAND, User, begin_user

URL = "https://pinfold.example.com/p/shop"
ENTRIES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "claude": (
        "home/.claude.json",
        ("mcpServers", "pinfold"),
        {
            "type": "http",
            "url": f"{URL}/mcp",
            "headers": {"Authorization": "Bearer ${PINFOLD_TOKEN}"},
            "alwaysLoad": True,
        },
    ),
    "codex": (
        "home/.codex/config.toml",
        ("mcp_servers", "pinfold"),
        {
            "url": f"{URL}/mcp",
            "bearer_token_env_var": "PINFOLD_TOKEN",
            "required": True,
            "startup_timeout_sec": 30,
        },
    ),
    "cursor": (
        "home/.cursor/mcp.json",
        ("mcpServers", "pinfold"),
        {"url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${env:PINFOLD_TOKEN}"}},
    ),
    "vscode": (
        "home/.config/Code/User/mcp.json",
        ("servers", "pinfold"),
        {"type": "http", "url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${env:PINFOLD_TOKEN}"}},
    ),
    "gemini": (
        "home/.gemini/settings.json",
        ("mcpServers", "pinfold"),
        {"httpUrl": f"{URL}/mcp", "headers": {"Authorization": "Bearer $PINFOLD_TOKEN"}},
    ),
    "opencode": (
        "home/.config/opencode/opencode.json",
        ("mcp", "pinfold"),
        {
            "type": "remote",
            "url": f"{URL}/mcp",
            "headers": {"Authorization": "Bearer {env:PINFOLD_TOKEN}"},
            "oauth": False,
            "enabled": True,
            "timeout": 30_000,
        },
    ),
}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    return begin_user(tmp_path, monkeypatch, PINFOLD_TOKEN="pinfold_not-to-be-written")


def _entry(user: User, client: str) -> object:
    file, keys, _ = ENTRIES[client]
    text = (user.home.parent / file).read_text("utf-8")
    tree: Any = tomllib.loads(text) if file.endswith("toml") else json.loads(text)
    for key in keys:
        tree = tree[key]
    return tree


@pytest.mark.parametrize("client", ENTRIES)
def test_the_address_and_the_variable_are_written_and_the_token_is_not(user: User, client: str) -> None:
    told = user.well("install", client, "--http", URL)
    assert _entry(user, client) == ENTRIES[client][2]
    assert [text for text in user.files().values() if b"not-to-be-written" in text] == []
    assert "Set PINFOLD_TOKEN where the client is started from: no file holds the token." in told["next"]


@pytest.mark.parametrize("client", ENTRIES)
def test_it_takes_the_place_of_the_server_on_this_machine_and_comes_out_again(
    user: User, client: str
) -> None:
    user.well("install", client)
    here = user.files()
    user.well("install", client, "--http", f"{URL}/mcp/")
    assert _entry(user, client) == ENTRIES[client][2]
    again = user.files()
    user.well("install", client, "--http", URL)
    assert user.files() == again
    user.well("install", client)
    assert user.files() == here
    user.well("install", client, "--http", URL)
    user.well("uninstall", client)
    assert user.files() == {}


def test_the_hooks_go_where_the_server_is(user: User) -> None:
    user.well("install", "claude", "--http", URL)
    settings = json.loads((user.home / ".claude" / "settings.json").read_text())
    hooks = [
        hook["command"]
        for groups in settings["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]
    assert len(hooks) == 8
    assert all(f"&& PINFOLD_URL={URL} '{COMMAND}' hook " in hook for hook in hooks)


def test_without_a_shell_to_set_the_address_there_are_no_hooks() -> None:
    assert not Launch(("pinfold",), None, "win32", URL).can_hook("codex")
    assert Launch(("pinfold",), None, "win32").can_hook("codex")
    assert Launch(("pinfold",), None, "linux", URL).can_hook("codex")


def test_what_is_installed_over_http_is_neither_outdated_nor_a_fault(user: User) -> None:
    user.well("install", "claude", "--http", URL)
    listed = {each["client"]: each for each in user.well("install")["clients"]}
    assert (listed["claude"]["installed"], listed["claude"]["outdated"]) == (["user"], [])
    doctor = json.loads(user.run("doctor", "--json").stdout)
    (finding,) = [each for each in doctor["findings"] if each["subject"] == "Claude Code"]
    assert (finding["state"], finding["found"]) == ("ok", "registered, with hooks")


@pytest.mark.parametrize(
    "url",
    ["pinfold.example.com", "ftp://x/p/a", "https://x/p/a?token=b", "https://u:p@x/p/a", "https://x/$(id)"],
)
def test_what_is_no_address_is_refused(user: User, url: str) -> None:
    done = user.run("install", "claude", "--http", url)
    assert done.exit_code == 1
    assert "This is no address of a project on a server." in done.output
    assert user.files() == {}


def test_an_address_to_which_the_token_would_go_in_clear_is_refused_unless_that_is_meant(user: User) -> None:
    there = "http://pinfold.example.com/p/shop"
    done = user.run("install", "claude", "--http", there)
    assert done.exit_code == 1
    assert "A token would go in clear to pinfold.example.com" in done.output
    assert user.files() == {}
    user.environment["PINFOLD_CLEAR"] = "1"
    assert user.well("install", "claude", "--http", there)["ok"]
    del user.environment["PINFOLD_CLEAR"]
    assert user.well("install", "claude", "--http", "http://127.0.0.1:7463/p/shop")["ok"]


def test_claude_desktop_says_that_its_file_takes_none(user: User) -> None:
    done = user.run("install", "claude-desktop", "--http", URL)
    assert done.exit_code == 1
    assert "Claude Desktop's file takes no server over HTTP." in done.output
