"""Transcripts as Claude Code and Codex write them, made up line by line."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SESSION = "01a22a14-2b0d-70d2-9aa6-6ea2a5951392"


class Written:
    """A conversation of Claude Code; each method returns one line of its transcript, or two."""

    def __init__(self, session: str = SESSION, cwd: Path | str = "/home/anna/shop") -> None:
        self.session = session
        self._cwd = str(cwd)
        self._numbers = itertools.count(1)

    def says(self, text: str, role: str = "assistant", **more: Any) -> bytes:
        """A user's prompt or the agent's words; `more` are other fields of the line."""
        return self._line(role, {"role": role, "content": text}, **more)

    def shows(self, *blocks: Any) -> bytes:
        """A user's message of blocks: text and pictures."""
        return self._line("user", {"role": "user", "content": blocks})

    def runs(self, tool: str, given: Any, output: str) -> bytes:
        """A call with its result."""
        call = f"toolu_{next(self._numbers):06d}"
        return self.calls(tool, given, call) + self.results(call, output)

    def calls(self, tool: str, given: Any, call: str) -> bytes:
        use = {"type": "tool_use", "id": call, "name": tool, "input": given}
        return self._line("assistant", {"role": "assistant", "content": [use]})

    def results(self, call: str, output: Any, **more: Any) -> bytes:
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        return self._line("user", {"role": "user", "content": [result]}, **more)

    def compacts(self, summary: str, before: int = 164_000, after: int = 12_000) -> bytes:
        figures = {"trigger": "auto", "preTokens": before, "postTokens": after}
        boundary = self._line("system", None, subtype="compact_boundary", compactMetadata=figures)
        return boundary + self.says(summary, "user", isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def _line(self, kind: str, message: Any, **more: Any) -> bytes:
        number = next(self._numbers)
        line = {
            "type": kind,
            "uuid": f"{self.session[:8]}-0000-4000-8000-{number:012d}",
            "timestamp": f"2026-03-14T09:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            "sessionId": self.session,
            "cwd": self._cwd,
            "message": message,
            **more,
        }
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def transcript(folder: Path, lines: Iterable[bytes], name: str = SESSION) -> Path:
    """Write a transcript where Claude Code would."""
    path = folder / "claude" / "projects" / "-home-anna-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path
