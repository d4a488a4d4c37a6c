"""All that is particular to Claude Code."""

from __future__ import annotations

from collections.abc import Mapping

NAME = "claude-code"


def conversation(environment: Mapping[str, str]) -> str | None:
    """Return the session id that Claude Code hands to the servers it starts."""
    return environment.get("CLAUDE_CODE_SESSION_ID") or None
