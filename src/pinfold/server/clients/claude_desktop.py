"""All that is particular to Claude Desktop."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import json_text
from pinfold.server.install.entries import NAME, Member, Registration, Target
from pinfold.server.install.place import Launch, Place
from pinfold.server.install.servers import stdio_server
from pinfold.store.errors import InvalidInputError

TITLE, PROGRAM = "Claude Desktop", "claude-desktop"


def folder(place: Place) -> Path:
    """Return its configuration folder."""
    return place.application_folder / "Claude"


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server. Raises `InvalidInputError` for scope `project`, which it does not know, and over HTTP."""
    if place.scope == "project":
        raise InvalidInputError(
            "Claude Desktop has no configuration for a project.",
            "Leave out --scope project.",
        )
    if launch.url:
        raise InvalidInputError(
            "Claude Desktop's file takes no server over HTTP.",
            "Add it in its settings under Connectors, or leave out --http.",
        )
    entry = Member(("mcpServers", NAME), stdio_server(launch))
    target = Target(folder(place) / "claude_desktop_config.json", json_text, (entry,))
    return Registration((target,), ("Quit Claude Desktop and start it anew.",))
