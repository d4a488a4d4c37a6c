"""What a person or a model is told to enter starts this pinfold, wherever its folder is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pinfold.server.own_command import command_name, quoted


def _script(folder: Path, says: str) -> Path:
    folder.mkdir(parents=True)
    script = folder / "pinfold"
    script.write_text(f"#!/bin/sh\necho {says}\n")
    script.chmod(0o755)
    return script


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our script, beside our interpreter, in a folder whose name needs quotes; the PATH leads to `found`."""
    script = _script(tmp_path / "it's ours" / "bin", "ours")
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", str(tmp_path / "found"))
    return script


def _said(command: str) -> str:
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=30).stdout


def test_a_pinfold_that_the_path_does_not_lead_to_is_named_by_its_quoted_path(ours: Path) -> None:
    assert command_name() != "pinfold"
    assert _said(f"{command_name()} show A4") == "ours\n"


def test_another_pinfold_on_the_path_is_not_taken_for_this_one(ours: Path, tmp_path: Path) -> None:
    _script(tmp_path / "found", "another")
    assert _said("pinfold") == "another\n"
    assert _said(command_name()) == "ours\n"


def test_a_link_on_the_path_makes_it_plain_pinfold(ours: Path, tmp_path: Path) -> None:
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "pinfold").symlink_to(ours)
    assert command_name() == "pinfold"
    assert _said(command_name()) == "ours\n"


def test_from_a_throw_away_folder_it_is_the_runner_although_the_path_leads_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _script(tmp_path / "archive-v0" / "x" / "bin", "ours")
    runner = _script(tmp_path / "found", "runner").rename(tmp_path / "found" / "uvx")
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", f"{script.parent}:{runner.parent}")
    assert command_name() == "uvx pinfold"


def test_without_a_script_it_is_the_interpreter_that_runs_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    python = tmp_path / "some python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    assert command_name() == f"'{python}' -m pinfold"


def test_on_windows_a_path_is_spelled_for_all_its_shells() -> None:
    assert quoted(r"C:\Program Files\pinfold.exe", "win32") == '"C:/Program Files/pinfold.exe"'
    assert quoted(r"D:\store", "win32") == "D:/store"
