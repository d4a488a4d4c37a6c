"""The plugin's files agree with the package, and its hooks never disturb a client."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

import pinfold
from docs.generate import ICON, PLUGIN
from docs.plugin import icon

HOOKS = {"hooks/hooks.json": "claude", "hooks/codex.json": "codex"}


def test_both_manifests_have_the_version_of_the_package() -> None:
    versions = {
        name: json.loads((PLUGIN / name / "plugin.json").read_bytes())["version"]
        for name in (".claude-plugin", ".codex-plugin")
    }
    assert versions == {".claude-plugin": pinfold.__version__, ".codex-plugin": pinfold.__version__}


def test_the_icon_is_what_its_code_draws() -> None:
    assert ICON.read_bytes() == icon(), "run `make docs`"


def _commands(name: str) -> list[str]:
    hooks = json.loads((PLUGIN / name).read_bytes())["hooks"]
    return [hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]]


def _run(command: str, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", command], env={"PATH": path}, input="{}", capture_output=True, text=True, timeout=30
    )


@pytest.mark.parametrize("name", HOOKS)
def test_without_a_pinfold_on_the_path_each_hook_is_silent(name: str, tmp_path: Path) -> None:
    done = [_run(command, str(tmp_path)) for command in _commands(name)]
    assert [(run.returncode, run.stdout, run.stderr) for run in done] == [(0, "", "")] * 8


@pytest.mark.parametrize("name", HOOKS)
def test_a_pinfold_that_fails_blocks_nothing_and_is_called_for_the_right_client(
    name: str, tmp_path: Path
) -> None:
    stub = tmp_path / "pinfold"
    stub.write_text(f'#!/bin/sh\necho "$@" >>{shlex.quote(str(tmp_path / "calls"))}\nexit 2\n')
    stub.chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.defpath))
    assert [_run(command, path).returncode for command in _commands(name)] == [0] * 8
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == f"hook session-start --client {HOOKS[name]}"
    assert all(call.endswith(f" --client {HOOKS[name]}") for call in calls)
