"""`pinfold install` and `uninstall` on real files, for every client and scope."""

from __future__ import annotations

import copy
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pinfold.server.install import CLIENTS, json_text
from tests.server.installing import COMMAND, User, begin_user, guarded

STDIO = {"command": COMMAND, "args": []}
CLAUDE = {"type": "stdio", **STDIO, "alwaysLoad": True}
FORWARDED = [
    "PINFOLD_HOME",
    "PINFOLD_PROJECT",
    "PINFOLD_ROOTS",
    "PINFOLD_MAX_ARTIFACT_BYTES",
    "XDG_DATA_HOME",
]
CODEX = {**STDIO, "env_vars": FORWARDED, "required": True, "startup_timeout_sec": 30}
OPENCODE = {"type": "local", "command": [COMMAND], "environment": {}, "enabled": True, "timeout": 30_000}
IN_PROJECT = {"env": {"PINFOLD_PROJECT": "${workspaceFolder}"}}

WHERE: dict[tuple[str, str], tuple[str, str, dict[str, Any]]] = {
    ("claude", "user"): ("home/.claude.json", "mcpServers", CLAUDE),
    ("claude", "project"): ("project/.mcp.json", "mcpServers", CLAUDE),
    ("codex", "user"): ("home/.codex/config.toml", "mcp_servers", CODEX),
    ("codex", "project"): ("project/.codex/config.toml", "mcp_servers", CODEX),
    ("cursor", "user"): ("home/.cursor/mcp.json", "mcpServers", STDIO),
    ("cursor", "project"): ("project/.cursor/mcp.json", "mcpServers", {**STDIO, **IN_PROJECT}),
    ("vscode", "user"): ("home/.config/Code/User/mcp.json", "servers", {"type": "stdio", **STDIO}),
    ("vscode", "project"): ("project/.vscode/mcp.json", "servers", {"type": "stdio", **STDIO, **IN_PROJECT}),
    ("gemini", "user"): ("home/.gemini/settings.json", "mcpServers", STDIO),
    ("gemini", "project"): ("project/.gemini/settings.json", "mcpServers", STDIO),
    ("opencode", "user"): ("home/.config/opencode/opencode.json", "mcp", OPENCODE),
    ("opencode", "project"): ("project/opencode.json", "mcp", OPENCODE),
    ("claude-desktop", "user"): ("home/.config/Claude/claude_desktop_config.json", "mcpServers", STDIO),
}
HOOKED = {
    ("claude", "user"): "home/.claude/settings.json",
    ("claude", "project"): "project/.claude/settings.json",
    ("codex", "user"): "home/.codex/config.toml",
    ("codex", "project"): "project/.codex/config.toml",
}
WORDS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PostToolUse": "post-tool-use",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compact",
    "SubagentStop": "subagent-stop",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
JSON_FORMS = {
    "comments": '{\n  // mine\n  "a": 1, // and this\n  "GROUP": {\n    "x": { "command": "y" }, /* kept */\n  },\n}\n',
    "tabs": '{\n\t"GROUP": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}',
    "crlf": '{\r\n    "a": [1, 2],\r\n    "GROUP": {}\r\n}\r\n',
    "one line": '{"a":1,"b":{"c":[]}}',
    "bom": '\ufeff{\n "a": "é再"\n}\n',
    "empty object": "{}\n",
    "empty file": "",
    "only a comment": "// nothing yet\n",
}
TOML_FORMS = {
    "comments": '# mine\nmodel = "m" # and this\n\n[GROUP.other] # x\ncommand = "x"\n\n# about tui\n[tui]\nx = 1\n',
    "no last newline": '[tui]\nx = """\n[GROUP.pinfold]\n"""',
    "crlf": 'a = 1\r\n\r\n[GROUP.other]\r\ncommand = "x"\r\n',
    "inline": 'GROUP = { other = { command = "x" } } # kept\n[tui]\nx = 1\n',
    "inline hooks": '[hooks]\nStop = [{ hooks = [{ type = "command", command = "mine" }] }]\n',
    "bom": "\ufeffa = 1\n",
    "empty file": "",
}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    return begin_user(tmp_path, monkeypatch)


def _read(content: bytes, name: str) -> dict[str, Any]:
    text = content.decode("utf-8-sig")
    return tomllib.loads(text) if name.endswith(".toml") else copy.deepcopy(json_text.read(text))


def _forms(name: str) -> dict[str, str]:
    return TOML_FORMS if name.endswith(".toml") else JSON_FORMS


CASES = [pytest.param(*case, id="-".join(case)) for case in WHERE]


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_a_new_user_gets_the_entry_where_the_client_looks_and_nothing_stays_after(
    user: User, client: str, scope: str
) -> None:
    name, group, entry = WHERE[client, scope]
    told = user.well("install", client, "--scope", scope)
    files = user.files()
    assert _read(files[name], name)[group] == {"pinfold": entry}
    assert {file["path"] for file in told["files"]} == {str(user.home.parent / path) for path in files}
    assert {file["action"] for file in told["files"]} == {"created"}
    assert user.well("uninstall", client, "--scope", scope)["changed"] is True
    left = {str(path.relative_to(user.home.parent)) for path in user.home.parent.rglob("*")}
    assert left == {"home", "project", "home/.local", "home/.local/share"}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_in_any_form_keeps_its_own_words_and_comes_back_to_the_byte(user: User, client: str) -> None:
    name, group, entry = WHERE[client, "user"]
    path = user.home.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for form, text in _forms(name).items():
        before = text.replace("GROUP", group).encode()
        path.write_bytes(before)
        former = _read(before, name) if text.strip() else {}
        user.well("install", client)
        found = _read(path.read_bytes(), name)
        assert found[group].pop("pinfold") == entry, form
        assert found[group] == former.get(group, {}), form
        assert {key: found[key] for key in former if key not in (group, "hooks")} == {
            key: former[key] for key in former if key not in (group, "hooks")
        }, form
        _expect_lines_kept(before, path.read_bytes())
        user.well("uninstall", client)
        assert path.read_bytes() == before, form


def _expect_lines_kept(before: bytes, after: bytes) -> None:
    """Every comment and every line end of the former file is in the new one."""
    for word in (
        b"// mine",
        b"// and this",
        b"/* kept */",
        b"# mine",
        b"# and this",
        b"# about tui",
        b"# kept",
    ):
        assert (word in before) == (word in after)
    if b"\r\n" in before:
        assert after.count(b"\n") == after.count(b"\r\n")
    assert before.startswith(b"\xef\xbb\xbf") == after.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_installing_twice_changes_neither_bytes_nor_times(user: User, client: str, scope: str) -> None:
    user.well("install", client, "--scope", scope)
    paths = [path for path in user.home.parent.rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}
    told = user.well("install", client, "--scope", scope)
    assert (told["changed"], told["next"]) == (False, [])
    assert {file["action"] for file in told["files"]} == {"unchanged"}
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in paths
    } == before


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_what_a_person_changed_since_stays_and_only_ours_goes(user: User, client: str, scope: str) -> None:
    name = WHERE[client, scope][0]
    path = user.home.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    is_toml = name.endswith(".toml")
    before = "a = 1 # x\n" if is_toml else '{\n  "a": 1, // x\n  "z": [true]\n}\n'
    path.write_text(before)
    user.well("install", client, "--scope", scope)
    path.write_text(path.read_text().replace("1", "2", 1))
    user.well("install", client, "--scope", scope)
    assert user.well("uninstall", client, "--scope", scope)["changed"] is True
    assert path.read_text() == before.replace("1", "2", 1)


@pytest.mark.parametrize(("client", "scope"), [pytest.param(*case, id="-".join(case)) for case in HOOKED])
def test_each_hook_calls_its_event_and_foreign_hooks_stay_first(user: User, client: str, scope: str) -> None:
    name = HOOKED[client, scope]
    path = user.home.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    theirs = {"hooks": [{"type": "command", "command": "echo mine"}]}
    if name.endswith(".toml"):
        before = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "echo mine"\n'
    else:
        before = json.dumps({"hooks": {"Stop": [theirs]}, "permissions": {"allow": ["Bash"]}})
    path.write_text(before)
    user.well("install", client, "--scope", scope)
    found = _read(path.read_bytes(), name)
    assert found["hooks"]["Stop"][0] == theirs
    ours = {event: groups[-1]["hooks"] for event, groups in found["hooks"].items()}
    assert {event: [hook["command"] for hook in hooks] for event, hooks in ours.items()} == {
        event: [guarded(f"hook {word} --client {client}")] for event, word in WORDS.items()
    }
    assert all(hook["timeout"] <= 30 for hooks in ours.values() for hook in hooks)
    assert ours["SessionEnd"][0]["timeout"] <= 3  # of more Codex complains at each start
    if client == "claude":
        assert found["permissions"]["allow"] == ["Bash", "mcp__pinfold"]
    user.well("uninstall", client, "--scope", scope)
    assert path.read_text() == before


def test_hooks_of_an_earlier_version_are_replaced_not_doubled(user: User) -> None:
    settings = user.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    old = {"hooks": [{"type": "command", "command": "/old/bin/pinfold hook stop --client claude"}]}
    mixed = {"hooks": [*old["hooks"], {"type": "command", "command": "echo mine"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [old, mixed]}}))
    user.well("install", "claude")
    groups = json.loads(settings.read_bytes())["hooks"]["Stop"]
    assert groups[0] == mixed
    assert [group["hooks"][0]["command"] for group in groups[1:]] == [guarded("hook stop --client claude")]
    settings.write_text(settings.read_text().replace("echo mine", "echo changed"))
    user.well("uninstall", "claude")
    mixed["hooks"][1]["command"] = "echo changed"
    assert json.loads(settings.read_bytes()) == {"hooks": {"Stop": [mixed, old]}}


def test_a_former_registration_is_updated_keeps_a_persons_words_and_comes_back(user: User) -> None:
    path = user.home / ".claude.json"
    former = {
        "type": "stdio",
        "command": "uvx",
        "args": ["pinfold"],
        "env": {"PINFOLD_HOME": "/x", "K": "v"},
        "timeout": 9,
    }
    path.write_text(json.dumps({"mcpServers": {"pinfold": former}}, indent=2))
    told = user.well("install", "claude")
    assert '-      "command": "uvx"' in told["files"][0]["difference"]
    assert json.loads(path.read_bytes())["mcpServers"]["pinfold"] == {
        **CLAUDE,
        "env": {"K": "v"},
        "timeout": 9,
    }
    path.write_text(path.read_text().replace("{", '{\n  "n": 1,', 1))
    user.well("uninstall", "claude")
    assert json.loads(path.read_bytes()) == {"n": 1, "mcpServers": {"pinfold": former}}


def test_a_remote_server_of_the_same_name_is_replaced_and_comes_back(user: User) -> None:
    path = user.home / ".codex" / "config.toml"
    path.parent.mkdir()
    headers = '[mcp_servers.pinfold.http_headers]\nA = "b"\n'
    before = f'[mcp_servers.pinfold]\nurl = "http://127.0.0.1:1"\n\n{headers}\n[tui]\n'
    path.write_text(before)
    user.well("install", "codex")
    assert tomllib.loads(path.read_text())["mcp_servers"]["pinfold"] == CODEX
    path.write_text(path.read_text().replace("[tui]\n", "[tui]\nx = 1\n"))
    user.well("uninstall", "codex")
    assert tomllib.loads(path.read_text()) == {**tomllib.loads(before), "tui": {"x": 1}}


def test_the_store_that_was_chosen_reaches_the_server_and_every_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "my store")
    user = begin_user(tmp_path, monkeypatch, PINFOLD_HOME=store)
    for client in ("claude", "codex", "opencode"):
        user.well("install", client)
    files = user.files()
    claude = json.loads(files["home/.claude.json"])["mcpServers"]["pinfold"]
    codex = tomllib.loads(files["home/.codex/config.toml"].decode())
    opencode = json.loads(files["home/.config/opencode/opencode.json"])["mcp"]["pinfold"]
    assert (
        claude["env"]
        == codex["mcp_servers"]["pinfold"]["env"]
        == opencode["environment"]
        == {"PINFOLD_HOME": store}
    )
    hooks = [json.loads(files["home/.claude/settings.json"])["hooks"], codex["hooks"]]
    commands = [
        group["hooks"][0]["command"] for events in hooks for groups in events.values() for group in groups
    ]
    assert len(commands) == 16
    assert all(command.endswith(f" --home '{store}' || :") for command in commands)
    assert (Path(store) / "installed").is_dir()


def test_a_moved_data_directory_is_written_down_for_clients_that_do_not_know_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = begin_user(tmp_path, monkeypatch, XDG_DATA_HOME=str(tmp_path / "share"))
    user.well("install", "cursor")
    entry = json.loads(user.files()["home/.cursor/mcp.json"])["mcpServers"]["pinfold"]
    assert entry["env"] == {"PINFOLD_HOME": str(tmp_path / "share" / "pinfold")}


def test_folders_that_the_clients_variables_name_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {
        "CLAUDE_CONFIG_DIR": tmp_path / "cc",
        "CODEX_HOME": tmp_path / "cx",
        "XDG_CONFIG_HOME": tmp_path / "xdg",
    }
    user = begin_user(tmp_path, monkeypatch, **{name: str(path) for name, path in places.items()})
    for client in ("claude", "codex", "opencode", "vscode"):
        user.well("install", client)
    assert sorted(
        str(path.relative_to(tmp_path))
        for path in places.values()
        for path in path.rglob("*.*")
        if path.is_file()
    ) == [
        "cc/.claude.json",
        "cc/settings.json",
        "cx/config.toml",
        "xdg/Code/User/mcp.json",
        "xdg/opencode/opencode.json",
    ]
    assert user.files() == {}


def test_opencode_is_told_in_the_file_with_comments_where_there_is_one(user: User) -> None:
    folder = user.home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{\n  // mine\n}\n")
    user.well("install", "opencode")
    assert [path.name for path in folder.iterdir()] == ["opencode.jsonc"]
    assert (folder / "opencode.jsonc").read_text().startswith('{\n  // mine\n  "mcp": {\n    "pinfold": {\n')


def test_the_project_is_its_root_from_any_folder_below(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("objects", "refs"):
        (user.project / ".git" / name).mkdir(parents=True)
    (user.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    below = user.project / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    told = user.well("install", "cursor", "--scope", "project")
    assert told["files"][0]["path"] == str(user.project / ".cursor" / "mcp.json")


def test_a_linked_file_is_written_through_and_keeps_its_mode(user: User) -> None:
    real, link = user.home / "dotfiles" / "claude.json", user.home / ".claude.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o640)
    link.symlink_to("dotfiles/claude.json")
    user.well("install", "claude")
    assert os.readlink(link) == "dotfiles/claude.json"
    assert json.loads(real.read_bytes())["mcpServers"]["pinfold"] == CLAUDE
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    user.well("uninstall", "claude")
    assert (link.is_symlink(), real.read_text()) == (True, "{}\n")
    assert [path.name for path in real.parent.iterdir()] == ["claude.json"]


def test_a_dry_run_shows_the_difference_and_touches_nothing(user: User) -> None:
    (user.home / ".claude.json").write_text('{\n  "a": 1\n}\n')
    done = user.run("install", "claude", "--dry-run")
    lines = done.stdout.splitlines()
    assert f"--- {user.home}/.claude.json" in lines
    assert "+--- /dev/null" not in lines
    assert '-  "a": 1' in lines
    assert '+  "a": 1,' in lines
    assert f"would be updated: {user.home}/.claude.json" in lines
    assert f"would be created: {user.home}/.claude/settings.json" in lines
    (backup,) = [line for line in lines if "backup" in line]
    assert backup.startswith(f"  would keep a backup: {user.home}/")
    assert not any(line.startswith("Next:") for line in lines)
    assert "\x1b" not in done.stdout
    assert [path.name for path in user.home.iterdir()] == [".claude.json"]


def test_a_person_is_told_what_was_written_where_the_backup_is_and_what_to_do(user: User) -> None:
    (user.home / ".codex").mkdir()
    (user.home / ".codex" / "config.toml").write_text("# mine\n")
    done = user.run("install", "codex")
    backup = next(line for line in done.stdout.splitlines() if line.startswith("  backup: "))
    assert Path(backup.removeprefix("  backup: ")).read_text() == "# mine\n"
    assert f"\nupdated: {user.home}/.codex/config.toml\n" in done.stdout
    assert "\nNext: Start Codex anew, enter /hooks and trust the hooks of pinfold" in done.stdout
    kept = user.home / ".local" / "share" / "pinfold" / "installed"
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.iterdir()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (kept, kept.parent)} == {0o700}
    assert user.run("install", "codex").stdout == "Already installed; nothing to change.\n"
    assert user.run("uninstall", "gemini").stdout == "Nothing to take out.\n"


@pytest.mark.parametrize(
    ("client", "name", "text", "said"),
    [
        (
            "claude",
            ".claude.json",
            '{\n  "a": 1\n  "b": 2\n}',
            "line 3: a ',' is missing, something else stands there",
        ),
        (
            "claude",
            ".claude.json",
            '{\n "a": [1, 2',
            "line 2: a ',' is missing, the end of the file stands there",
        ),
        ("claude", ".claude.json", "{}\n{}", "line 2: more text after the end of the object"),
        ("claude", ".claude.json", "[]", "line 1: the file holds no object"),
        ("claude", ".claude.json", "{'a': 1}", "line 1: something that is not JSON"),
        ("claude", ".claude.json", '{"a": NaN}', "line 1: a value is missing or is not JSON"),
        ("claude", ".claude.json", '{"mcpServers": []}', "'mcpServers' is not an object"),
        (
            "claude",
            ".claude/settings.json",
            '{"permissions": {"allow": {}}}',
            "'permissions.allow' is not a list",
        ),
        ("claude", ".claude.json", "[" * 300, "line 1: more than 200 levels"),
        ("codex", ".codex/config.toml", "a = 1\nb = \n", "line 2: Invalid value"),
        (
            "codex",
            ".codex/config.toml",
            "a = 1\n[x",
            "line 2: Expected ']' at the end of a table declaration",
        ),
        ("codex", ".codex/config.toml", "hooks = 3\n", "'hooks' is not an object"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_line_and_left_alone(
    user: User, client: str, name: str, text: str, said: str
) -> None:
    path = user.home / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    for command in ("install", "uninstall"):
        refused = user.run(command, client)
        assert (refused.exit_code, refused.stdout) == (1, "")
        line = refused.stderr.removeprefix(f"pinfold: {path}").lstrip(",: ")
        assert line == f"{said}; the file was left alone. Mend it and try again.\n"
    assert path.read_text() == text
    assert {found for found in user.home.rglob("*") if found.is_file()} == {path}


def test_bytes_that_are_no_text_are_refused_by_line(user: User) -> None:
    path = user.home / ".claude.json"
    path.write_bytes('{\n"a": "é"}'.encode("utf-16"))
    refused = user.run("install", "claude")
    assert refused.stderr.startswith(
        f"pinfold: {path}, line 1: bytes that are not UTF-8; the file was left alone."
    )
    assert path.read_bytes() == '{\n"a": "é"}'.encode("utf-16")


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_read_only_file_is_a_plain_error(user: User, command: str) -> None:
    path = user.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}")
    if command == "uninstall":
        user.well("install", "cursor")
    before = path.read_bytes()
    path.chmod(0o444)
    refused = user.run(command, "cursor")
    assert refused.stderr == f"pinfold: {path} is read-only. Make it writable and try again.\n"
    assert refused.exit_code == 1
    assert path.read_bytes() == before
    path.chmod(0o644)
    user.well(command, "cursor")
    user.well("uninstall", "cursor")
    assert path.read_text() == "{}"


def test_a_folder_in_the_files_place_is_a_plain_error(user: User) -> None:
    (user.home / ".cursor" / "mcp.json").mkdir(parents=True)
    refused = user.run("install", "cursor", "--json")
    error = f"{user.home}/.cursor/mcp.json is no file. Move it out of the way and try again."
    assert (refused.exit_code, json.loads(refused.stdout)) == (1, {"ok": False, "error": error})


def test_a_client_that_wrote_its_file_meanwhile_loses_nothing(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user.home / ".claude.json"
    path.write_text('{"a": 1}')
    real = os.chmod

    def interrupted(target: str | os.PathLike[str], mode: int) -> None:
        path.write_text('{"a": 2}')
        real(target, mode)

    monkeypatch.setattr("pinfold.server.install.files.os.chmod", interrupted)
    refused = user.run("install", "claude")
    assert refused.stderr == f"pinfold: {path} was changed by another program meanwhile. Try again.\n"
    assert path.read_text() == '{"a": 2}'
    assert [found.name for found in user.home.iterdir() if found.is_file()] == [".claude.json"]


def test_a_lost_receipt_costs_only_the_exact_bytes(user: User) -> None:
    path = user.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {\n    "x": {"command": "y"}\n  }\n}\n')
    before = path.read_text()
    user.well("install", "cursor")
    for kept in (user.home / ".local" / "share" / "pinfold" / "installed").iterdir():
        kept.unlink()
    user.well("uninstall", "cursor")
    assert path.read_text() == before


def test_claude_desktop_has_no_project(user: User) -> None:
    refused = user.run("install", "claude-desktop", "--scope", "project")
    assert refused.stderr == (
        "pinfold: Claude Desktop has no configuration for a project. Leave out --scope project.\n"
    )
