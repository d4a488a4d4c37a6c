"""The server is registered with the clients' own command lines, offline and without a login."""

from __future__ import annotations

import json

import pytest

from tests.clients.clients import NAME, ClaudeCode, OpenCode, Place, Server, Start
from tests.clients.programs import CLAUDE_CODE, CODEX, OPENCODE
from tests.clients.run import run
from tests.clients.story import server_of

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]


@pytest.fixture
def server(place: Place) -> Server:
    return server_of(place)


def test_claude_mcp_add_registers_a_server_that_connects(place: Place, server: Server) -> None:
    def claude(*args: str) -> str:
        return run(Start((str(CLAUDE_CODE.binary()), "mcp", *args), ClaudeCode().env(place)), place)

    env = [word for name, value in server.env.items() for word in ("-e", f"{name}={value}")]
    claude("add", "--scope", "user", NAME, *env, "--", *server.command)
    command = " ".join(server.command)
    assert f"{NAME}: {command} - ✔ Connected" in claude("list")
    shown = [line.strip() for line in claude("get", NAME).splitlines()]
    assert "Status: ✔ Connected" in shown
    assert [f"{name}={value}" for name, value in server.env.items()] == [
        line for line in shown if "=" in line
    ]


def test_codex_mcp_add_registers_the_command_as_given(place: Place, server: Server) -> None:
    home = place.home / "codex"
    home.mkdir()

    def codex(*args: str) -> str:
        return run(Start((str(CODEX.binary()), "mcp", *args), place.env(CODEX_HOME=str(home))), place)

    env = [word for name, value in server.env.items() for word in ("--env", f"{name}={value}")]
    codex("add", NAME, *env, "--", *server.command)
    (listed,) = json.loads(codex("list", "--json"))
    command, *args = server.command
    for entry in (listed, json.loads(codex("get", NAME, "--json"))):
        assert (entry["name"], entry["enabled"]) == (NAME, True)
        assert (entry["transport"]["command"], entry["transport"]["args"]) == (command, args)
        assert entry["transport"]["env"] == server.env


def test_opencode_connects_to_the_server_of_its_configuration(place: Place, server: Server) -> None:
    OpenCode().register(place, server)
    list_servers = Start((str(OPENCODE.binary()), "mcp", "list"), OpenCode().env(place))
    assert f"✓ {NAME}" in run(list_servers, place)
