"""All that is particular to opencode."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import json_text
from pinfold.server.install.entries import NAME, Member, Registration, Target, Tree
from pinfold.server.install.place import TOKEN_VARIABLE, Launch, Place
from pinfold.server.install.servers import http_server

TITLE, PROGRAM = "opencode", "opencode"
_START_MS = 30_000


def folder(place: Place) -> Path:
    """Return its configuration folder, which it looks for in the same place on every system."""
    return place.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server."""
    server = {**_server(launch), "enabled": True, "timeout": _START_MS}
    entry = Member(("mcp", NAME), server, env="environment")
    target = Target(_file(place), json_text, (entry,))
    steps = (
        "Start opencode anew.",
        "It has no hooks that pinfold could use: say “fetch the brief from pinfold” after a compaction.",
    )
    return Registration((target,), steps)


def _server(launch: Launch) -> Tree:
    if launch.url:
        return {"type": "remote", **http_server(launch, f"{{env:{TOKEN_VARIABLE}}}"), "oauth": False}
    return {"type": "local", "command": list(launch.command), "environment": launch.environment}


def _file(place: Place) -> Path:
    """Return the file with comments where there is one: of two, opencode lets it win."""
    where = place.project if place.scope == "project" else folder(place)
    with_comments = where / "opencode.jsonc"
    return with_comments if with_comments.exists() else where / "opencode.json"
