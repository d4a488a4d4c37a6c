"""Where Claude Code finds its servers, hooks and permissions."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import json_text
from pinfold.server.install.entries import NAME, Item, Member, Registration, Target
from pinfold.server.install.hooks import advice_on_speed, hook_items
from pinfold.server.install.place import TOKEN_VARIABLE, Launch, Place
from pinfold.server.install.servers import http_server, stdio_server

TITLE, PROGRAM = "Claude Code", "claude"

# Whose output is replaced: what Read shows is in its file. Names stand whole, ours are left out.
TOOLS = r"^(Bash|mcp__(?!(plugin_pinfold_)?pinfold__).+)$"


def folder(place: Place) -> Path:
    """Return its configuration folder."""
    return place.folder("CLAUDE_CONFIG_DIR", ".claude")


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server, the permission to call its tools, and the hooks.

    `alwaysLoad` makes Claude Code wait for the server and show its tools at once; without it the first
    request may go out before they are there.
    """
    over_http = {"type": "http", **http_server(launch, f"${{{TOKEN_VARIABLE}}}")}
    server = {**(over_http if launch.url else {"type": "stdio", **stdio_server(launch)}), "alwaysLoad": True}
    permission = Item(("permissions", "allow"), f"mcp__{NAME}")
    hooks = hook_items(launch, "claude", TOOLS)
    return Registration(
        (
            Target(
                _servers_file(place), json_text, (Member(("mcpServers", NAME), server),), strict_for=TITLE
            ),
            Target(_settings_file(place), json_text, (permission, *hooks), strict_for=TITLE),
        ),
        _next_steps(place) + advice_on_speed(launch),
    )


def _servers_file(place: Place) -> Path:
    if place.scope == "project":
        return place.project / ".mcp.json"
    old = folder(place) / ".config.json"  # where early versions kept it, and still does whoever has it
    if old.is_file():
        return old
    return place.folder("CLAUDE_CONFIG_DIR", ".") / ".claude.json"


def _settings_file(place: Place) -> Path:
    return (place.project / ".claude" if place.scope == "project" else folder(place)) / "settings.json"


def _next_steps(place: Place) -> tuple[str, ...]:
    restart = "Start Claude Code anew; a running session keeps its old settings."
    if place.scope == "user":
        return (restart,)
    return (
        restart,
        "It asks once whether to use the server of .mcp.json.",
        "Both files name pinfold by its path on this machine: commit them only if it is the same for everyone.",
    )
