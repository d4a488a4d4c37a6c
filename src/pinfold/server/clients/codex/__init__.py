"""All that is particular to Codex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAME = "codex"


def conversation(meta: Mapping[str, Any]) -> str | None:
    """Return the thread id that Codex puts into each call's `_meta`."""
    turn = meta.get("x-codex-turn-metadata")
    candidates = [meta.get("threadId")]
    if isinstance(turn, Mapping):
        candidates += [turn.get("thread_id"), turn.get("session_id")]
    return next((thread for thread in candidates if isinstance(thread, str) and thread), None)
