"""All that is particular to VS Code."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import json_text
from pinfold.server.install.entries import Registration, Target
from pinfold.server.install.place import Launch, Place
from pinfold.server.install.servers import editor_server

TITLE, PROGRAM = "VS Code", "code"


def folder(place: Place) -> Path:
    """Return the folder of the default profile."""
    return place.application_folder / "Code" / "User"


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server."""
    path = place.project / ".vscode" if place.scope == "project" else folder(place)
    entry = editor_server("servers", place, launch, typed=True)
    target = Target(path / "mcp.json", json_text, (entry,))
    return Registration((target,), ("Enter MCP: List Servers in the command palette and start pinfold.",))
