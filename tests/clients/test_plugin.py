"""The plugin folder is one that Claude Code and Codex accept, and both read the same server out of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pinfold
from tests.clients.clients import NAME, ClaudeCode, Place, Start
from tests.clients.programs import CLAUDE_CODE, CODEX
from tests.clients.run import run

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
NO_MODEL = "http://127.0.0.1:9"


def test_claude_code_finds_nothing_to_report_in_plugin_and_marketplace(place: Place) -> None:
    env = ClaudeCode().env(place, NO_MODEL)
    validate = (str(CLAUDE_CODE.binary()), "plugin", "validate", "--strict")
    assert "✔ Validation passed" in run(Start((*validate, str(ROOT)), env), place)
    plugin = run(Start((*validate, "--profile", "directory", str(ROOT / "plugin")), env), place)
    assert "✔ These checks found nothing to report" in plugin
    assert "✔ Validation passed" in plugin


def test_claude_code_installs_the_plugin_in_this_version(place: Place) -> None:
    def claude(*args: str) -> str:
        return run(
            Start((str(CLAUDE_CODE.binary()), "plugin", *args), ClaudeCode().env(place, NO_MODEL)), place
        )

    claude("marketplace", "add", str(ROOT))
    claude("install", f"{NAME}@{NAME}")
    (listed,) = [entry for entry in json.loads(claude("list", "--json")) if entry["id"] == f"{NAME}@{NAME}"]
    assert (listed["version"], listed["enabled"]) == (pinfold.__version__, True)


def test_codex_installs_the_plugin_and_sees_its_server(place: Place) -> None:
    home = place.home / "codex"
    home.mkdir()

    def codex(*args: str) -> str:
        return run(Start((str(CODEX.binary()), *args), place.env(CODEX_HOME=str(home))), place)

    codex("plugin", "marketplace", "add", str(ROOT))
    codex("plugin", "add", f"{NAME}@{NAME}")
    (listed,) = json.loads(codex("mcp", "list", "--json"))
    assert (listed["name"], listed["transport"]["command"], listed["enabled"]) == (NAME, "pinfold", True)
