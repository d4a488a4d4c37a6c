"""Whose configuration is meant, and how pinfold is started from it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pinfold.server.install.entries import NAME, Scope
from pinfold.server.own_command import own_command, quoted
from pinfold.store.errors import InvalidInputError

URL_VARIABLE, TOKEN_VARIABLE = "PINFOLD_URL", "PINFOLD_TOKEN"
"""Where hooks go instead of this machine's store, and the token that they, and the client itself, show there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A user on one machine, and the project for scope `project`. `platform` is `sys.platform`."""

    scope: Scope
    home: Path
    project: Path
    environment: Mapping[str, str]
    platform: str = sys.platform

    @property
    def root(self) -> Path:
        """The folder below which the files of the scope lie, where the client has no variable for it."""
        return self.home if self.scope == "user" else self.project

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else `default`, relative to the home."""
        named = self.environment.get(variable)
        return Path(named).expanduser().absolute() if named else self.home / default

    @property
    def application_folder(self) -> Path:
        """Where graphical programs keep their configuration on this system."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData/Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")


@dataclass(frozen=True, slots=True)
class Launch:
    """How pinfold is started: `command` with its first arguments; `store` is the data directory, if not the default.

    Server and hooks both carry `store`, so that they reach the same one whatever environment a client gives them.
    With `url`, a project's address on a team's server, the client talks to that, and the hooks carry it.
    """

    command: tuple[str, ...]
    store: str | None
    platform: str = sys.platform
    url: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What the server's entry sets."""
        return {"PINFOLD_HOME": self.store} if self.store else {}

    def hook(self, event: str, client: str) -> str:
        """Return the shell command of a hook: where pinfold is gone it says nothing, and it always succeeds.

        On Windows that is so only in Git Bash; cmd and PowerShell have other words for it.
        """
        place = ("--home", self.store) if self.store else ()
        words = (*self.command, "hook", event, "--client", client, *place)
        program, *arguments = (quoted(word, self.platform) for word in words)
        call = " ".join((program, *arguments))
        if not self._meets_a_shell(client):
            return call
        if self.url:
            call = f"{URL_VARIABLE}={quoted(self.url, self.platform)} {call}"
        is_there = f"[ -x {program} ]" if "/" in program else f"command -v {program} >/dev/null 2>&1"
        return f"{is_there} && {call} || :"

    def can_hook(self, client: str) -> bool:
        """Say whether hooks can be told where to go: what is no shell takes no variable in front of a command."""
        return not self.url or self._meets_a_shell(client)

    def _meets_a_shell(self, client: str) -> bool:
        return self.platform != "win32" or _is_run_by_git_bash(client)


def _is_run_by_git_bash(client: str) -> bool:
    """Say whether a hook meets Git Bash on Windows: Claude Code takes PowerShell where there is no git, Codex cmd."""
    return client == "claude" and shutil.which("git") is not None


def find_launch(environment: Mapping[str, str]) -> Launch:
    """Return how this pinfold is started again from anywhere, and the data directory that this environment chooses.

    Raises `InvalidInputError` when there is no such command, or no text for its path.
    """
    launch = Launch(_command(), _store(environment))
    try:
        "".join((*launch.command, launch.store or "")).encode()
    except UnicodeEncodeError:
        raise InvalidInputError(
            "The path of pinfold or of its data directory is not valid Unicode, so no configuration can name it.",
            "Install pinfold, and set PINFOLD_HOME, in a folder with a plain name.",
        ) from None
    return launch


def _command() -> tuple[str, ...]:
    own = own_command()
    if own is not None:
        return own
    found = shutil.which(NAME)
    if found is None:
        raise InvalidInputError(
            "The command pinfold is not installed, so no client could start it.",
            "Install the package, e.g. with `uv tool install pinfold`, and run `pinfold install` again.",
        )
    return (os.path.abspath(found),)


def _store(environment: Mapping[str, str]) -> str | None:
    """Return the data directory where the environment moves it; a client may start us without that environment."""
    from pinfold.server.settings import default_home

    named = environment.get("PINFOLD_HOME")
    if named:
        return str(Path(named).expanduser().absolute())
    moved = sys.platform not in ("win32", "darwin") and environment.get("XDG_DATA_HOME")
    return str(default_home()) if moved else None
