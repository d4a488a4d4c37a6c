"""All that is particular to Gemini CLI."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import json_text
from pinfold.server.install.entries import NAME, Member, Registration, Target
from pinfold.server.install.place import TOKEN_VARIABLE, Launch, Place
from pinfold.server.install.servers import http_server, stdio_server

TITLE, PROGRAM = "Gemini CLI", "gemini"


def folder(place: Place) -> Path:
    """Return its configuration folder."""
    return place.home / ".gemini"


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server. Gemini CLI has hooks too, but with other events and answers than ours."""
    over_http = http_server(launch, f"${TOKEN_VARIABLE}", "httpUrl")
    entry = Member(("mcpServers", NAME), over_http if launch.url else stdio_server(launch))
    target = Target(place.root / ".gemini" / "settings.json", json_text, (entry,))
    steps = (
        "Start Gemini CLI anew; in a folder that it does not trust it starts no servers.",
        "No hooks were set up: say “fetch the brief from pinfold” after a compression.",
    )
    return Registration((target,), steps)
