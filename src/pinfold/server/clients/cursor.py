"""All that is particular to Cursor."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import json_text
from pinfold.server.install.entries import Registration, Target
from pinfold.server.install.place import Launch, Place
from pinfold.server.install.servers import editor_server

TITLE, PROGRAM = "Cursor", "cursor"


def folder(place: Place) -> Path:
    """Return its configuration folder."""
    return place.home / ".cursor"


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server."""
    target = Target(
        place.root / ".cursor" / "mcp.json", json_text, (editor_server("mcpServers", place, launch),)
    )
    return Registration((target,), ("Start Cursor anew and switch pinfold on under Settings, MCP.",))
