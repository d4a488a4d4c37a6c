"""The hooks that Claude Code and Codex share: their names, ours, and how long a client waits for each at most."""

from __future__ import annotations

from typing import Any

from pinfold.server.install.entries import Item
from pinfold.server.install.place import Launch

# Reading a long transcript takes seconds once, after that nearly nothing. For SessionEnd Codex complains of more than
# 3 s at each start, and Claude Code gives 1.5 s where nothing is named.
_EVENTS = {
    "SessionStart": ("session-start", 20),
    "UserPromptSubmit": ("user-prompt-submit", 10),
    "PostToolUse": ("post-tool-use", 30),
    "PreCompact": ("pre-compact", 30),
    "PostCompact": ("post-compact", 20),
    "SubagentStop": ("subagent-stop", 20),
    "Stop": ("stop", 20),
    "SessionEnd": ("session-end", 3),
}


def hook_items(launch: Launch, client: str, tools: str | None) -> list[Item]:
    """Return one group of hooks for each event. `tools` matches the tools whose output is looked at; None: all."""
    items: list[Item] = []
    if not launch.can_hook(client):
        return items
    for event, (word, timeout) in _EVENTS.items():
        hook = {"type": "command", "command": launch.hook(word, client), "timeout": timeout}
        group: dict[str, Any] = {"hooks": [hook]}
        if event == "PostToolUse" and tools:
            group = {"matcher": tools, **group}
        items.append(Item(("hooks", event), group))
    return items


def advice_on_speed(launch: Launch) -> tuple[str, ...]:
    """Return a next step where hooks would start slowly: by `uvx` or `pipx run`."""
    if len(launch.command) == 1:
        return ()
    return (
        f"Each hook starts pinfold by {' '.join(launch.command)}: install it to have that fast, and run this again.",
    )
