"""The server's entry in the two shapes that most clients take."""

from __future__ import annotations

from collections.abc import Mapping

from pinfold.server.install.entries import NAME, Member, Tree
from pinfold.server.install.place import TOKEN_VARIABLE, Launch, Place


def stdio_server(launch: Launch, more: Mapping[str, str] | None = None) -> Tree:
    """Return `command`, `args` and, where something is to be set, `env` with `more` in it."""
    command, *arguments = launch.command
    env = {**launch.environment, **(more or {})}
    return {"command": command, "args": arguments, **({"env": env} if env else {})}


def http_server(launch: Launch, token: str, address: str = "url") -> Tree:
    """Return the entry of a server over HTTP; `token` is how the client spells the variable that holds the token."""
    return {address: f"{launch.url}/mcp", "headers": {"Authorization": f"Bearer {token}"}}


def editor_server(group: str, place: Place, launch: Launch, *, typed: bool = False) -> Member:
    """Return the entry of an editor, which starts a project's server in a folder of its own choice.

    So the project is named: by a variable, which the editor replaces, for the file may be shared. `typed`: it has to
    say of which kind the server is, too.
    """
    over = {"type": "http" if launch.url else "stdio"} if typed else {}
    if launch.url:
        return Member((group, NAME), {**over, **http_server(launch, f"${{env:{TOKEN_VARIABLE}}}")})
    more = {"PINFOLD_PROJECT": "${workspaceFolder}"} if place.scope == "project" else {}
    return Member((group, NAME), {**over, **stdio_server(launch, more)})
