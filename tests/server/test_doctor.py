"""`pinfold doctor` as a person meets it: clients, data directory, exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from pinfold.context import vocabulary
from pinfold.server.settings import read_settings
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.server.installing import User, begin_user


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    """Return a user whose command can really be run."""
    command = tmp_path / "bin" / "pinfold"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o700)
    made = begin_user(tmp_path, monkeypatch)
    monkeypatch.setattr("pinfold.server.install.place._command", lambda: (str(command),))
    return made


def _told(user: User, *more: str) -> dict[str, Any]:
    done = user.run("doctor", "--json", *more)
    told: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == (0 if told["ok"] else 1)
    return told


def _of(user: User, subject: str) -> tuple[str, str]:
    (found,) = [each for each in _told(user)["findings"] if each["subject"] == subject]
    return found["state"], found["found"]


def test_a_new_installation_is_well_and_nothing_is_made(user: User) -> None:
    told = _told(user)
    assert told["ok"]
    assert {each["state"] for each in told["findings"]} <= {"ok", "warn"}
    subjects = [each["subject"] for each in told["findings"]]
    assert subjects == [
        "Python",
        "pinfold",
        "tokenizer",
        "home",
        "data directory",
        "project",
        "SQLite",
        "store",
        "clients",
    ]
    assert user.files() == {}
    assert not (user.home / ".local").exists()


def test_a_pipe_is_given_a_line_a_thing_and_a_sum(user: User) -> None:
    done = user.run("doctor")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert {len(cells) for cells in lines} == {4}
    assert done.stderr.strip() == f"{len(lines)} ok, 0 to look at, 0 bad"


@pytest.mark.parametrize(("client", "title"), [("claude", "Claude Code"), ("codex", "Codex")])
def test_a_registered_client_is_ok_until_its_command_is_gone(user: User, client: str, title: str) -> None:
    user.well("install", client)
    assert _of(user, title) == ("ok", "registered, with hooks")
    command = user.home.parent / "bin" / "pinfold"
    command.chmod(0o600)
    state, found = _of(user, title)
    assert (state, found) == ("bad", f"its command {command} is not there or cannot be run")


def test_hooks_that_are_gone_or_of_another_version_are_counted(user: User) -> None:
    user.well("install", "claude")
    settings = user.home / ".claude" / "settings.json"
    tree = json.loads(settings.read_text())
    del tree["hooks"]["PreCompact"], tree["hooks"]["Stop"]
    tree["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] = 1
    settings.write_text(json.dumps(tree))
    assert _of(user, "Claude Code") == (
        "warn",
        "2 of its hooks and permissions are missing; 1 of its hooks are another version's, or lead elsewhere",
    )


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude.json"])
def test_a_file_that_claude_code_skips_is_bad_though_all_of_ours_stands_in_it(user: User, name: str) -> None:
    user.well("install", "claude")
    path = user.home / name
    path.write_text(f"// mine\n{path.read_text()}")
    assert _of(user, "Claude Code") == (
        "bad",
        f"Claude Code does not read {path.name} with comments or trailing commas (line 1):"
        " until they are gone, nothing in it counts.",
    )


def test_hooks_that_are_switched_off_are_said_by_doctor_and_install(user: User) -> None:
    settings = user.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    said = '"disableAllHooks": true stands in settings.json: until it is gone, no hook runs.'
    assert user.well("install", "claude")["next"][0] == said
    assert _of(user, "Claude Code") == ("warn", said)
    settings.write_text(settings.read_text().replace("true", "false"))
    assert _of(user, "Claude Code") == ("ok", "registered, with hooks")


def test_a_client_that_keeps_its_memory_elsewhere_is_said(user: User) -> None:
    user.well("install", "cursor")
    elsewhere = User(user.home, user.project, {"PINFOLD_HOME": str(user.home / "other")})
    state, found = _of(elsewhere, "Cursor")
    assert (state, found) == (
        "warn",
        f"it keeps its memory in the default place, not in {user.home / 'other'}",
    )


def test_a_configuration_that_cannot_be_read_is_bad_and_left_alone(user: User) -> None:
    (user.home / ".codex").mkdir()
    broken = user.home / ".codex" / "config.toml"
    broken.write_text("[mcp_servers\n")
    state, found = _of(user, "Codex")
    assert (state, "config.toml, line 1" in found) == ("bad", True)
    assert broken.read_text() == "[mcp_servers\n"


def test_the_store_of_the_project_is_looked_at_too(user: User) -> None:
    home = user.home / ".local" / "share" / "pinfold"
    settings = read_settings({"PINFOLD_HOME": str(home)}, user.project)

    async def keep() -> None:
        store = await open_store(settings.store_folder, settings.project.name)
        await pin(store, "use uuid7")
        await store.close()

    anyio.run(keep)
    assert _of(user, "log") == ("ok", "2 events; the chain holds from 1 to 2")
    home.chmod(0o755)
    state, found = _of(user, "data directory")
    assert (state, found) == ("bad", f"{home}: others can get at it")


def test_a_changed_vocabulary_is_bad(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = vocabulary.shipped()
    monkeypatch.setattr(vocabulary, "shipped", lambda: [*tokens[:-2], tokens[-1], tokens[-2]])
    assert _of(user, "tokenizer") == ("bad", "its vocabulary is not the published one")


def test_of_a_database_it_says_only_that_it_was_not_looked_at(user: User) -> None:
    user.environment["PINFOLD_STORE"] = "postgresql://anna:password@127.0.0.1:1/shop"
    assert _of(user, "store") == ("warn", "in a database that is shared, which is not looked at here")
    assert "anna" not in user.run("doctor").output
