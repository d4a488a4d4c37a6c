"""What is built for users holds everything the program reads, and nothing of the links at the root."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_code_and_resources_and_nothing_else(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert built.returncode == 0, built.stderr
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    inside = {name for name in names if not name.startswith("pinfold-")}
    source = ROOT / "src" / "pinfold"
    wanted = [file for file in source.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert inside == {f"pinfold/{file.relative_to(source).as_posix()}" for file in wanted}
    assert {name.rpartition("/")[2] for name in names} >= {"LICENSE", "NOTICE", "entry_points.txt"}


def test_the_locked_requirements_name_no_place_and_hash_everything() -> None:
    text = (ROOT / "requirements-dev.txt").read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert all("==" in line and line.endswith("\\") for line in pinned)


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    reasons = (ROOT / "docs" / "decisions" / "0005-dependencies.md").read_text("utf-8")
    names = [requirement.split(">")[0].split(";")[0].strip() for requirement in project["dependencies"]]
    assert [name for name in names if name not in reasons] == []


def test_the_example_configuration_starts_the_command_that_make_installs_in_a_checkout() -> None:
    example = json.loads((ROOT / "claude_desktop_config.example.json").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    entry = example["mcpServers"]["pinfold"]
    script = Path(entry["command"])
    assert script.is_absolute()
    assert (script.parts[-3:-1], entry["args"]) == ((".venv", "bin"), [])
    assert script.name in project["scripts"]
