"""Where clients look on each system, and how pinfold is started again from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pinfold.server.clients import claude_desktop, vscode
from pinfold.server.clients.claude_code import registration as claude_code
from pinfold.server.install.place import Launch, Place, find_launch
from pinfold.server.own_command import is_throw_away
from pinfold.store.errors import InvalidInputError

HOME = Path("/u")


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "/u/.config"),
        ("linux", {"XDG_CONFIG_HOME": "/x"}, "/x"),
        ("darwin", {"XDG_CONFIG_HOME": "/x"}, "/u/Library/Application Support"),
        ("win32", {}, "/u/AppData/Roaming"),
        ("win32", {"APPDATA": "/r"}, "/r"),
    ],
)
def test_programs_with_windows_keep_their_files_where_the_system_says(
    platform: str, environment: dict[str, str], folder: str
) -> None:
    where = Place("user", HOME, Path("/p"), environment, platform)
    assert vscode.folder(where) == Path(folder, "Code", "User")
    assert claude_desktop.folder(where) == Path(folder, "Claude")


def test_an_old_state_file_of_claude_code_is_the_one_it_still_reads(tmp_path: Path) -> None:
    where = Place("user", tmp_path, tmp_path, {})
    launch = Launch(("pinfold",), None)
    assert claude_code.registration(where, launch).targets[0].path == tmp_path / ".claude.json"
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".config.json").write_text("{}")
    assert claude_code.registration(where, launch).targets[0].path == tmp_path / ".claude" / ".config.json"


def test_the_command_is_the_installed_script_by_its_full_path() -> None:
    (command,) = find_launch({}).command
    assert Path(command).is_absolute()
    done = subprocess.run([command, "--version"], cwd="/", capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("pinfold, version ")


SHELLS = [shell for shell in map(shutil.which, ("sh", "bash", "dash", "zsh", "fish")) if shell]
"""Claude Code runs hooks by /bin/sh, Codex by the user's own shell."""


def _run(shell: str, command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [shell, "-c", command],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A stub of the installed command: it prints its arguments and fails."""
    script = tmp_path / "it's (a) $HOME" / "pinfold"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 2\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_reaches_its_program_and_store_through_the_shell_whatever_they_are_called(
    script: Path, tmp_path: Path, shell: str
) -> None:
    store = str(tmp_path / 'my "store"')
    command = Launch((str(script),), store, "linux").hook("stop", "claude")
    code, said, complaint = _run(shell, command)
    assert said.splitlines() == ["hook", "stop", "--client", "claude", "--home", store]
    assert (code, complaint) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_whose_program_is_gone_succeeds_without_a_word(script: Path, shell: str) -> None:
    command = Launch((str(script),), None, "linux").hook("stop", "codex")
    script.unlink()
    assert _run(shell, command) == (0, "", "")
    script.parent.rmdir()
    assert _run(shell, command) == (0, "", "")


def test_a_hook_by_a_runner_without_a_path_is_silent_where_the_path_has_none(script: Path) -> None:
    command = Launch(("pinfold", "run-it"), None, "linux").hook("stop", "claude")
    assert _run("/bin/sh", command, PATH="/nowhere") == (0, "", "")
    assert _run("/bin/sh", command, PATH=str(script.parent))[1].startswith("run-it\nhook\nstop\n")


def test_on_windows_a_hook_of_codex_suits_cmd_and_that_of_claude_code_is_guarded_for_git_bash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    launch = Launch((r"C:\Program Files\pinfold.exe",), r"D:\store", "win32")
    call = '"C:/Program Files/pinfold.exe" hook stop --client CLIENT --home D:/store'
    assert launch.hook("stop", "codex") == call.replace("CLIENT", "codex")
    assert launch.hook("stop", "claude") == call.replace("CLIENT", "claude")  # PowerShell, without git
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    guard = '[ -x "C:/Program Files/pinfold.exe" ]'
    assert launch.hook("stop", "claude") == f"{guard} && {call.replace('CLIENT', 'claude')} || :"
    assert launch.hook("stop", "codex") == call.replace("CLIENT", "codex")
    assert _run("/bin/bash", launch.hook("stop", "claude")) == (0, "", "")


@pytest.mark.parametrize(
    ("executable", "gone_tomorrow"),
    [
        ("/u/.cache/uv/archive-v0/9qImx1oxKnpa8ZjK/bin/python", True),
        ("/u/.cache/uv/environments-v2/pinfold-1/bin/python", True),
        ("/u/.local/pipx/.cache/2c1f/bin/python", True),
        ("/u/.local/share/uv/tools/pinfold/bin/python", False),
        ("/u/.local/share/pipx/venvs/pinfold/bin/python", False),
        ("/u/archive/.venv/bin/python", False),
    ],
)
def test_only_the_folders_of_uvx_and_pipx_run_are_thrown_away(
    executable: str, *, gone_tomorrow: bool
) -> None:
    assert is_throw_away(Path(executable)) is gone_tomorrow


def test_from_a_throw_away_folder_the_runner_is_written_by_its_full_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/u/.cache/uv/archive-v0/x/bin/python")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_launch({}).command == ("uvx", "pinfold")
    for name, command in (("pipx", ("run", "pinfold")), ("uvx", ("pinfold",))):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        assert find_launch({}).command == (str(tmp_path / name), *command)


def test_a_pinfold_that_no_client_could_start_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInputError, match="is not installed"):
        find_launch({})


def test_a_path_that_is_no_text_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="not valid Unicode"):
        find_launch({"PINFOLD_HOME": "/\udcff"})
