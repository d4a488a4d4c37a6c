"""The server's entry in the two shapes that most clients take."""

from __future__ import annotations

from collections.abc import Mapping

from pinfold.server.install.entries import NAME, Member, Tree
from pinfold.server.install.place import Launch, Place


def stdio_server(launch: Launch, more: Mapping[str, str] | None = None) -> Tree:
    """Return `command`, `args` and, where something is to be set, `env` with `more` in it."""
    command, *arguments = launch.command
    env = {**launch.environment, **(more or {})}
    return {"command": command, "args": arguments, **({"env": env} if env else {})}


def editor_server(group: str, place: Place, launch: Launch, first: Mapping[str, str] | None = None) -> Member:
    """Return the entry of an editor, which starts a project's server in a folder of its own choice.

    So the project is named: by a variable, which the editor replaces, for the file may be shared.
    """
    more = {"PINFOLD_PROJECT": "${workspaceFolder}"} if place.scope == "project" else {}
    return Member((group, NAME), {**(first or {}), **stdio_server(launch, more)})
