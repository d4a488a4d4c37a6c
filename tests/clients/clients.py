"""How each client is started: its private configuration, its command line, its environment.

Nothing of the caller's home or environment reaches a client: it sees an empty HOME, a dummy key and the
scripted model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.clients.hooks import recording
from tests.clients.programs import CLAUDE_CODE, CODEX, OPENCODE

NAME = "pinfold"
PROMPT = "Carry on."
CLEAR = "/clear"
THREAD = "$THREAD"
"""Stands in a line for the id that Codex gave the conversation it began last."""
_KEY = "dummy-not-a-key"
_NO_MODEL = "http://127.0.0.1:9"


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
class Opening:
    """What the user says, each prompt after the answer to the one before, in a new conversation or in the newest."""

    prompts: tuple[str, ...] = (PROMPT,)
    resumes: bool = False


USUAL = Opening()


@dataclass(frozen=True, slots=True)
class Line:
    """One line that a client reads, and a part of the line that it prints when it is done with it."""

    text: str
    done: str


@dataclass(frozen=True, slots=True)
class Start:
    """What is run, and the lines that it reads, each when it is done with the one before."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    lines: tuple[Line, ...] = ()


class Client(Protocol):
    """A coding client that can be talked to from a script."""

    @property
    def registry(self) -> str:
        """Its name for `pinfold install`."""

    def env(self, place: Place) -> dict[str, str]:
        """Return the environment in which it finds its configuration."""

    def register(self, place: Place, server: Server) -> None:
        """Write the server into the client's configuration."""

    def start(self, place: Place, opening: Opening, model_url: str) -> Start:
        """Return how a conversation is begun."""


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Claude Code, asked with `-p`. Where it is recorded, `hooks.read` tells what its hooks were given."""

    recorded: bool = False
    registry: str = "claude"

    def env(self, place: Place, model_url: str = _NO_MODEL) -> dict[str, str]:
        """Return its environment, with every call home but the model's switched off."""
        quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        model = {"ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": _KEY}
        return place.env(CLAUDE_CONFIG_DIR=str(place.home / "claude"), **quiet, **model)

    def register(self, place: Place, server: Server) -> None:
        """Register the server for the user; its tools are allowed, as a user allows them once."""
        command, *args = server.command
        entry = {
            "type": "stdio",
            "command": command,
            "args": args,
            "env": dict(server.env),
            "alwaysLoad": True,
        }
        folder = place.home / "claude"
        folder.mkdir()
        (folder / ".claude.json").write_text(json.dumps({"mcpServers": {NAME: entry}}))
        (folder / "settings.json").write_text(json.dumps({"permissions": {"allow": [f"mcp__{NAME}"]}}))

    def start(self, place: Place, opening: Opening, model_url: str) -> Start:
        """It compacts above 100,000 tokens, the least that it can be told."""
        hooks = recording(place.home) if self.recorded else {}
        settings = {"permissions": {"allow": ["Bash(*)", "Agent"]}, "hooks": hooks}
        limits = ("--autocompact", "100000", "--settings", json.dumps(settings))
        streams = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        begin = ("--continue",) if opening.resumes else ()
        messages = ({"role": "user", "content": prompt} for prompt in opening.prompts)
        lines = tuple(
            Line(json.dumps({"type": "user", "message": said}), '"type":"result"') for said in messages
        )
        argv = (str(CLAUDE_CODE.binary()), "-p", *begin, *limits, *streams)
        return Start(argv, self.env(place, model_url), lines)


@dataclass(frozen=True, slots=True)
class Codex:
    """Codex, asked with `exec`, where nobody can approve anything. Some models have code mode only."""

    model: str = "scripted"
    recorded: bool = False
    registry: str = "codex"

    def env(self, place: Place) -> dict[str, str]:
        """Return its environment."""
        return place.env(CODEX_HOME=str(place.home / "codex"), SCRIPTED_KEY=_KEY)

    def register(self, place: Place, server: Server) -> None:
        """Write `config.toml`; `required` makes Codex wait for the server before it asks the model."""
        command, *args = server.command
        tables: dict[str, Mapping[str, object]] = {
            f"mcp_servers.{NAME}": {"command": command, "args": args, "required": True},
            f"mcp_servers.{NAME}.env": server.env,
        }
        folder = place.home / "codex"
        folder.mkdir()
        text = "\n".join(f"[{name}]\n{_toml(table)}" for name, table in tables.items())
        (folder / "config.toml").write_text(text)

    def start(self, place: Place, opening: Opening, model_url: str) -> Start:
        """`exec` takes one prompt. Hooks are run without the trust that a user gives them once."""
        if self.recorded:
            (place.home / "codex" / "hooks.json").write_text(json.dumps({"hooks": recording(place.home)}))
        if len(opening.prompts) > 1:
            argv = (str(CODEX.binary()), "app-server", *self._model(model_url))
            return Start(argv, self.env(place), tuple(_app_lines(opening.prompts)))
        (prompt,) = opening.prompts
        begin = ("resume", "--last") if opening.resumes else ()
        flags = ("--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust")
        argv = (str(CODEX.binary()), "exec", *begin, *flags, *self._model(model_url), prompt)
        return Start(argv, self.env(place))

    def _model(self, url: str) -> Iterator[str]:
        provider = "model_providers.scripted"
        settings = {
            "model": self.model,
            "model_provider": "scripted",
            "model_auto_compact_token_limit": 100_000,
            f"{provider}.name": "scripted",
            f"{provider}.base_url": f"{url}/v1",
            f"{provider}.env_key": "SCRIPTED_KEY",
            f"{provider}.wire_api": "responses",
        }
        for key, value in settings.items():
            yield from ("-c", f"{key}={json.dumps(value)}")


@dataclass(frozen=True, slots=True)
class OpenCode:
    """opencode, asked with `run`. Its whole configuration is one file in the project."""

    registry: str = "opencode"

    def env(self, place: Place) -> dict[str, str]:
        """Return its environment, with every call home switched off."""
        return place.env(OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1")

    def register(self, place: Place, server: Server) -> None:
        """Write the server into it."""
        entry = {
            "type": "local",
            "command": server.command,
            "environment": dict(server.env),
            "timeout": 30_000,
        }
        (place.project / "opencode.json").write_text(json.dumps({"mcp": {NAME: entry}}))

    def start(self, place: Place, opening: Opening, model_url: str) -> Start:
        """Write the model into it."""
        model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
        options = {"baseURL": f"{model_url}/v1", "apiKey": _KEY}
        provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": {"m": model}}
        path = place.project / "opencode.json"
        config = json.loads(path.read_bytes()) | {"model": "scripted/m", "small_model": "scripted/m"}
        config |= {"autoupdate": False, "share": "disabled", "provider": {"scripted": provider}}
        path.write_text(json.dumps(config))
        (prompt,) = opening.prompts
        return Start((str(OPENCODE.binary()), "run", prompt, "--format", "json"), self.env(place))


def _app_lines(prompts: tuple[str, ...]) -> Iterator[Line]:
    """Yield what Codex's own screens send: its `/clear` begins a new conversation in the same process."""
    hello = {"clientInfo": {"name": "tests", "version": "1"}}
    yield Line(_request("initialize", hello), '"result":{"userAgent"')
    began = '"result":{"thread"'
    trusting = {"config": {"bypass_hook_trust": True}}
    yield Line(_request("thread/start", trusting), began)
    for prompt in prompts:
        if prompt == CLEAR:
            yield Line(_request("thread/start", trusting | {"sessionStartSource": "clear"}), began)
        else:
            said = {"threadId": THREAD, "input": [{"type": "text", "text": prompt}]}
            yield Line(_request("turn/start", said), '"method":"turn/completed"')


def _request(method: str, params: Mapping[str, object]) -> str:
    return json.dumps({"id": method, "method": method, "params": params})


def _toml(table: Mapping[str, object]) -> str:
    """Return the lines of a table. JSON's strings, numbers, truths and lists of strings are TOML's."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
