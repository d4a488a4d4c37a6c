"""What a client gave its hooks, as a recording hook beside ours wrote it down."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.clients.dialogue import Json

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStop",
    "Stop",
    "SessionEnd",
)
_RECORDER = Path(__file__).parent / "hook_recorder.py"


@dataclass(frozen=True, slots=True)
class Hook:
    """One call of a hook. `transcript_bytes` is how long the conversation's file was then, None without a file."""

    payload: Json
    environment: dict[str, str]
    transcript_bytes: int | None

    @property
    def event(self) -> str:
        """Its name."""
        return str(self.payload["hook_event_name"])

    @property
    def session(self) -> str:
        """The client's own id of the conversation."""
        return str(self.payload["session_id"])

    @property
    def transcript(self) -> list[str]:
        """The lines of the file at that moment; clients only append."""
        if self.transcript_bytes is None:
            return []
        with Path(self.payload["transcript_path"]).open("rb") as file:
            return file.read(self.transcript_bytes).decode().splitlines()


def recording(home: Path) -> dict[str, list[Json]]:
    """Return the hooks that record, in the form that Claude Code and Codex share."""
    command = shlex.join((sys.executable, "-I", "-S", str(_RECORDER), str(_log(home))))
    return {event: [{"hooks": [{"type": "command", "command": command}]}] for event in EVENTS}


def read(home: Path) -> tuple[Hook, ...]:
    """Return the hooks that were called, in order."""
    return tuple(Hook(**json.loads(line)) for line in _log(home).read_text(encoding="utf-8").splitlines())


def _log(home: Path) -> Path:
    return home / "hooks.jsonl"
