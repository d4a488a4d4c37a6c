"""How each client is started: its private configuration, its command line, its environment.

Nothing of the caller's home or environment reaches a client: it sees an empty HOME, a dummy key and the
scripted model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.clients.programs import CLAUDE_CODE, CODEX, OPENCODE

NAME = "pinfold"
PROMPT = "Carry on."
_KEY = "dummy-not-a-key"


@dataclass(frozen=True, slots=True)
class Server:
    """The MCP server under test, as a user registers it."""

    command: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one user: a home, a project in which the client runs, one for temporary files."""

    home: Path
    project: Path
    temporary: Path

    def env(self, **more: str) -> dict[str, str]:
        """Return the whole environment of a client. opencode leaves a 5 MB temporary file per start."""
        folders = {"HOME": str(self.home), "TMPDIR": str(self.temporary)}
        return {"PATH": os.defpath, "TERM": "xterm", "LANG": "C.UTF-8", **folders, **more}


@dataclass(frozen=True, slots=True)
class Start:
    """What is run."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


class Client(Protocol):
    """A coding client that can be asked one question in a new conversation."""

    def start(self, place: Place, server: Server, model_url: str) -> Start:
        """Write the client's configuration into `place`; return how to start it."""


class ClaudeCode:
    """Claude Code, asked with `-p`."""

    def env(self, place: Place, model_url: str) -> dict[str, str]:
        """Return its environment, with every call home but the model's switched off."""
        quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        model = {"ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": _KEY}
        return place.env(CLAUDE_CONFIG_DIR=str(place.home / "claude"), **quiet, **model)

    def start(self, place: Place, server: Server, model_url: str) -> Start:
        """Register the server in a file of its own; its tools are allowed, as a user allows them once."""
        config, settings = place.home / "mcp.json", place.home / "settings.json"
        command, *args = server.command
        entry = {"command": command, "args": args, "env": dict(server.env), "alwaysLoad": True}
        config.write_text(json.dumps({"mcpServers": {NAME: {"type": "stdio", **entry}}}))
        settings.write_text(json.dumps({"permissions": {"allow": [f"mcp__{NAME}"]}}))
        files = ("--mcp-config", str(config), "--strict-mcp-config", "--settings", str(settings))
        output = ("--output-format", "stream-json", "--verbose")
        return Start((str(CLAUDE_CODE.binary()), "-p", PROMPT, *files, *output), self.env(place, model_url))


@dataclass(frozen=True, slots=True)
class Codex:
    """Codex, asked with `exec`, where nobody can approve anything. Some models have code mode only."""

    model: str = "scripted"

    def start(self, place: Place, server: Server, model_url: str) -> Start:
        """Write `config.toml`; `required` makes Codex wait for the server before it asks the model."""
        folder = place.home / "codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(self._config(server, model_url))
        argv = (str(CODEX.binary()), "exec", "--json", "--skip-git-repo-check", PROMPT)
        return Start(argv, place.env(CODEX_HOME=str(folder), SCRIPTED_KEY=_KEY))

    def _config(self, server: Server, model_url: str) -> str:
        command, *args = server.command
        tables: dict[str, Mapping[str, object]] = {
            "model_providers.scripted": {
                "name": "scripted",
                "base_url": f"{model_url}/v1",
                "env_key": "SCRIPTED_KEY",
                "wire_api": "responses",
            },
            f"mcp_servers.{NAME}": {"command": command, "args": args, "required": True},
            f"mcp_servers.{NAME}.env": server.env,
        }
        top = _toml({"model": self.model, "model_provider": "scripted"})
        return "\n".join([top, *(f"[{name}]\n{_toml(table)}" for name, table in tables.items())])


class OpenCode:
    """opencode, asked with `run`."""

    def start(self, place: Place, server: Server, model_url: str) -> Start:
        """Write `opencode.json` into the project."""
        model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
        options = {"baseURL": f"{model_url}/v1", "apiKey": _KEY}
        provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": {"m": model}}
        entry = {
            "type": "local",
            "command": server.command,
            "environment": dict(server.env),
            "timeout": 30_000,
        }
        config = {
            "model": "scripted/m",
            "small_model": "scripted/m",
            "autoupdate": False,
            "share": "disabled",
        }
        config |= {"provider": {"scripted": provider}, "mcp": {NAME: entry}}
        (place.project / "opencode.json").write_text(json.dumps(config))
        quiet = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        return Start((str(OPENCODE.binary()), "run", PROMPT, "--format", "json"), place.env(**quiet))


def _toml(table: Mapping[str, object]) -> str:
    """Return the lines of a table. JSON's strings, numbers, truths and lists of strings are TOML's."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
