"""The server is registered with the clients' own command lines, offline and without a login."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree

import pytest

from tests.clients import hooks
from tests.clients.clients import NAME, ClaudeCode, Client, Codex, OpenCode, Place, Server, Start
from tests.clients.dialogue import Say, Shell
from tests.clients.model import Script
from tests.clients.programs import CLAUDE_CODE, CODEX, OPENCODE
from tests.clients.run import converse, run
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


HOOKED: dict[str, Client] = {"claude": ClaudeCode(recorded=True), "codex": Codex(recorded=True)}
CALLED = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]
GUARD = re.compile(r"\[ -x \S+ \] && | \|\| :")


def told(client: Client, place: Place) -> str:
    """Return all that a client prints in a short conversation that calls every usual hook."""
    before = len(hooks.read(place.home)) if (place.home / "hooks.jsonl").exists() else 0
    conversation = converse(client, place, Script((Shell("echo hi"), Say("Done."))))
    assert [hook.event for hook in hooks.read(place.home)[before:]] == CALLED
    return conversation.stdout + (place.temporary / "stderr").read_text()


def stores(place: Place) -> list[Path]:
    return list((place.home / "store").rglob("log.db"))


def change(place: Place, old: str | re.Pattern[str], new: str) -> None:
    """Replace something in all that is configured."""
    for name in ("claude/.claude.json", "claude/settings.json", "codex/config.toml"):
        path = place.home / name
        if path.exists():
            path.write_text(re.sub(old, new, path.read_text()))


@pytest.mark.parametrize("name", HOOKED)
def test_hooks_run_without_a_complaint_while_pinfold_is_there_and_when_it_is_gone(
    place: Place, name: str
) -> None:
    client = HOOKED[name]
    pinfold(place, client.env(place) | {"PINFOLD_HOME": str(place.home / "store")}, "install", name)
    complaint = re.compile("pinfold: not found|clamping|hook problem|failed:")
    assert complaint.findall(told(client, place)) == []
    assert len(stores(place)) == 1
    rmtree(place.home / "store")
    change(place, re.escape(str(Path(sys.executable).with_name("pinfold"))), "/gone/pinfold")
    change(place, "required = true", "required = false")
    assert complaint.findall(told(client, place)) == []
    assert stores(place) == []
    if name == "claude":  # Codex tells of a hook that fails only on its screen
        change(place, GUARD, "")
        assert "/gone/pinfold: not found" in told(client, place)
