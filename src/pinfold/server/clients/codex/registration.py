"""Where Codex finds its servers and hooks."""

from __future__ import annotations

from pathlib import Path

from pinfold.server.install import toml_text
from pinfold.server.install.entries import NAME, Member, Registration, Target, Tree
from pinfold.server.install.hooks import advice_on_speed, hook_items
from pinfold.server.install.place import TOKEN_VARIABLE, Launch, Place
from pinfold.server.install.servers import stdio_server

TITLE, PROGRAM = "Codex", "codex"

# Codex starts servers with an almost empty environment, and hooks with the user's: both must hear the same.
_FORWARDED = (
    "PINFOLD_HOME",
    "PINFOLD_PROJECT",
    "PINFOLD_ROOTS",
    "PINFOLD_MAX_ARTIFACT_BYTES",
    "XDG_DATA_HOME",
)


def folder(place: Place) -> Path:
    """Return its configuration folder."""
    return place.folder("CODEX_HOME", ".codex")


def registration(place: Place, launch: Launch) -> Registration:
    """Return the server and the hooks. Without `required` Codex may ask the model before the server has started."""
    server = {**_server(launch), "required": True, "startup_timeout_sec": 30}
    path = (place.project / ".codex" if place.scope == "project" else folder(place)) / "config.toml"
    member = Member(("mcp_servers", NAME), server)
    target = Target(path, toml_text, (member, *hook_items(launch, "codex", None)))
    return Registration((target,), _next_steps(place) + advice_on_speed(launch))


def _server(launch: Launch) -> Tree:
    if launch.url:
        return {"url": f"{launch.url}/mcp", "bearer_token_env_var": TOKEN_VARIABLE}
    forwarded = [name for name in _FORWARDED if name not in launch.environment]
    return {**stdio_server(launch), "env_vars": forwarded}


def _next_steps(place: Place) -> tuple[str, ...]:
    trust = "Start Codex anew, enter /hooks and trust the hooks of pinfold; until then it does not run them."
    if place.scope == "user":
        return (trust,)
    return (trust, "Codex reads .codex/config.toml only in a project that you trust.")
