"""`pinfold install` without a client: what is here, what is installed, and what to enter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pinfold.server.install import CLIENTS
from tests.server.installing import User, begin_user


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr("pinfold.server.install.listing.command_name", lambda: "/opt/bin/pinfold")
    return begin_user(tmp_path, monkeypatch)


def _line(user: User, title: str) -> str:
    lines = user.run("install").stdout.splitlines()
    (found,) = [line.removeprefix(title).strip() for line in lines if line.startswith(title)]
    return found


def test_a_client_that_is_here_is_listed_with_the_command_that_a_shell_finds(user: User) -> None:
    (user.home / ".gemini").mkdir()
    told = user.well("install")["clients"]
    assert {"client": "gemini", "found": True, "installed": [], "outdated": []} in told
    assert [entry["client"] for entry in told] == list(CLIENTS)
    assert _line(user, "Gemini CLI") == "/opt/bin/pinfold install gemini"
    assert _line(user, "Cursor") == "(not found)"


def test_what_was_installed_is_said_by_scope_and_what_was_taken_out_is_not(user: User) -> None:
    user.well("install", "codex")
    user.well("install", "cursor", "--scope", "project")
    user.well("install", "claude")
    user.well("install", "claude", "--scope", "project")
    assert {entry["client"]: entry["installed"] for entry in user.well("install")["clients"]} == {
        **{client: [] for client in CLIENTS},
        "codex": ["user"],
        "cursor": ["project"],
        "claude": ["user", "project"],
    }
    assert _line(user, "Codex") == "installed for you"
    assert _line(user, "Cursor") == "installed in this project"
    assert _line(user, "Claude Code") == "installed for you and in this project"
    user.well("uninstall", "codex")
    assert not _line(user, "Codex").startswith("installed")


def test_every_client_that_was_installed_for_the_user_is_listed_as_current(user: User) -> None:
    for client in CLIENTS:
        user.well("install", client)
    assert [(entry["installed"], entry["outdated"]) for entry in user.well("install")["clients"]] == [
        (["user"], [])
    ] * len(CLIENTS)


def test_an_installation_of_an_earlier_form_is_listed_with_the_command_that_renews_it(user: User) -> None:
    user.well("install", "claude", "--scope", "project")
    settings = user.project / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(" || :", ""))
    assert _line(user, "Claude Code") == (
        "installed in this project; to renew it: /opt/bin/pinfold install claude --scope project"
    )
    user.well("install", "claude", "--scope", "project")
    assert _line(user, "Claude Code") == "installed in this project"


def test_a_file_that_cannot_be_read_is_said_and_hides_no_other_client(user: User) -> None:
    (user.home / ".cursor").mkdir()
    (user.home / ".cursor" / "mcp.json").write_text("{\n]")
    user.well("install", "codex")
    assert _line(user, "Cursor").startswith(f"{user.home}/.cursor/mcp.json, line 2: ")
    assert _line(user, "Codex") == "installed for you"
    (cursor,) = [entry for entry in user.well("install")["clients"] if entry["client"] == "cursor"]
    assert cursor["error"] == _line(user, "Cursor")


def test_in_a_home_folder_the_users_files_are_not_counted_twice(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user.home)
    user.well("install", "codex")
    assert _line(user, "Codex") == "installed for you"


def test_listing_makes_nothing(user: User) -> None:
    user.well("install")
    assert [path for path in user.home.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_name_that_is_no_client_is_refused_with_those_there_are(user: User, command: str) -> None:
    refused = user.run(command, "foo")
    assert refused.exit_code == 2
    assert "Invalid value for 'CLIENT': 'foo' is not one of 'claude', 'codex'" in refused.output
    told = "".join(user.run(command, "--help").stdout.split())
    assert f"CLIENTisoneof:{','.join(CLIENTS)}." in told


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  // mine\n  "a": 1\n}\n', 2),
        ('{\n  "a": 1, /* and this */\n  "b": 2\n}\n', 2),
        ('{\n  "a": 1,\n  "b": [\n    1,\n  ]\n}\n', 4),
        ("// nothing yet\n", 1),
    ],
)
@pytest.mark.parametrize("name", ["home/.claude/settings.json", "home/.claude.json"])
def test_a_file_that_claude_code_itself_will_skip_is_installed_into_and_said_at_each_run(
    user: User, name: str, text: str, line: int
) -> None:
    path = user.home.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    said = (
        f"Claude Code does not read {path.name} with comments or trailing commas (line {line}):"
        " until they are gone, nothing in it counts."
    )
    assert f"Next: {said}\n" in user.run("install", "claude", "--dry-run").stdout
    told = user.well("install", "claude")
    assert (told["changed"], told["next"][0]) == (True, said)
    assert user.run("install", "claude").stdout == f"Already installed; nothing to change.\nNext: {said}\n"
    assert "does not read" not in user.run("uninstall", "claude").stdout
    assert path.read_text() == text


def test_a_trailing_comma_is_named_by_its_line_in_the_file_as_it_is_now(user: User) -> None:
    path = user.home / ".claude.json"
    path.write_text('{\n  "a": 1,\n}\n')
    said = user.well("install", "claude")["next"][0]
    (number,) = [int(number) for number in re.findall(r"\(line (\d+)\)", said)]
    assert path.read_text().splitlines()[number - 1 : number + 1] == ["  },", "}"]


def test_a_file_that_its_client_reads_as_it_is_is_not_complained_of(user: User) -> None:
    settings = user.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('\ufeff{"a": "// no comment, }"}')
    for client, name in (("cursor", ".cursor/mcp.json"), ("gemini", ".gemini/settings.json")):
        (user.home / name).parent.mkdir()
        (user.home / name).write_text("{\n  // mine\n}\n")
        assert not any("does not read" in step for step in user.well("install", client)["next"])
    assert len(user.well("install", "claude")["next"]) == 1
    assert json.loads(settings.read_bytes().decode("utf-8-sig"))["a"] == "// no comment, }"
