"""The server is registered with the clients' own command lines, offline and without a login."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

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


def pinfold(place: Place, env: Mapping[str, str], *args: str) -> None:
    """Run a command of ours as the user does who runs the client."""
    source = server_of(place).env["PYTHONPATH"]
    run(Start((sys.executable, "-m", "pinfold", *args), {**env, "PYTHONPATH": source}), place)


@pytest.mark.parametrize(("scope", "shown"), [("user", "User config"), ("project", "Project config")])
def test_what_pinfold_install_wrote_claude_code_finds_and_connects_to(
    place: Place, scope: str, shown: str
) -> None:
    env = ClaudeCode().env(place)
    claude = (str(CLAUDE_CODE.binary()), "mcp")
    run(Start((*claude, "add", "--scope", scope, "other", "--", "other"), env), place)
    pinfold(place, env, "install", "claude", "--scope", scope)
    lines = [line.strip() for line in run(Start((*claude, "get", NAME), env), place).splitlines()]
    assert f"Scope: {shown}" in " ".join(lines)
    assert any(line.startswith("Command: ") and line.endswith("/pinfold") for line in lines)
    if scope == "user":  # those of a project wait for a person
        assert "Status: ✔ Connected" in lines
    pinfold(place, env, "uninstall", "claude", "--scope", scope)
    listed = run(Start((*claude, "list"), env), place)
    assert "other: other" in listed
    assert NAME not in listed


@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_pinfold_install_wrote_codex_lists(place: Place, scope: str) -> None:
    home = place.home / "codex"
    home.mkdir()
    (home / "config.toml").write_text(f'[projects."{place.project}"]\ntrust_level = "trusted" # mine\n')
    before = (home / "config.toml").read_bytes()
    env = place.env(CODEX_HOME=str(home))
    command = Start((str(CODEX.binary()), "mcp", "list", "--json"), env)
    pinfold(place, env, "install", "codex", "--scope", scope)
    (listed,) = json.loads(run(command, place))
    assert (listed["name"], listed["enabled"], listed["startup_timeout_sec"]) == (NAME, True, 30.0)
    assert listed["transport"]["command"].endswith("/pinfold")
    pinfold(place, env, "uninstall", "codex", "--scope", scope)
    assert json.loads(run(command, place)) == []
    assert (home / "config.toml").read_bytes() == before


def test_what_pinfold_install_wrote_opencode_connects_to(place: Place) -> None:
    env = OpenCode().env(place)
    pinfold(place, env, "install", "opencode")
    assert f"✓ {NAME}" in run(Start((str(OPENCODE.binary()), "mcp", "list"), env), place)
