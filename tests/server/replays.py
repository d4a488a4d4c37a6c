"""Conversations of Claude Code with usage figures, made up so that a replay's sums can be checked by hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
SESSION = "01a22a14-2b0d-70d2-9aa6-6ea2a5951392"
HOSTILE = "</script><script>hit()</script><img src=x onerror=hit()>\u2028\u202e${hit()}"
Line = dict[str, Any]


class Talk:
    """Lines of one conversation; each request of the model has an id, and figures where `usage` is given."""

    def __init__(self, model: str = "claude-opus-4-5") -> None:
        self.lines: list[Line] = []
        self.at = START
        self._model = model
        self._numbers = itertools.count(1)
        self._request = "msg_0"

    def waits(self, **span: float) -> None:
        self.at += timedelta(**span)

    def user(self, text: str) -> None:
        self._line("user", {"role": "user", "content": text})

    def begins(self) -> None:
        """The model is asked."""
        self._request = f"msg_{next(self._numbers)}"

    def says(self, text: str, usage: dict[str, int] | None = None) -> None:
        self._speaks({"type": "text", "text": text}, usage)

    def thinks(self, usage: dict[str, int]) -> None:
        self._speaks({"type": "thinking", "thinking": "", "signature": "x"}, usage)

    def calls(self, tool: str, given: Line, usage: dict[str, int] | None = None) -> str:
        call = f"toolu_{next(self._numbers)}"
        self._speaks({"type": "tool_use", "id": call, "name": tool, "input": given}, usage)
        return call

    def results(self, call: str, text: str) -> None:
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        self._line("user", {"role": "user", "content": [result]})

    def compacts(self, summary: str, before: int = 160_000, after: int = 8_000) -> None:
        figures = {"trigger": "auto", "preTokens": before, "postTokens": after}
        self._line("system", None, subtype="compact_boundary", compactMetadata=figures)
        self._line("user", {"role": "user", "content": summary}, isCompactSummary=True)

    def written(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path

    def _speaks(self, block: Line, usage: dict[str, int] | None) -> None:
        message = {"id": self._request, "role": "assistant", "model": self._model, "content": [block]}
        self._line("assistant", message | ({"usage": usage} if usage else {}))

    def _line(self, kind: str, message: Line | None, **more: Any) -> None:
        uuid = f"{SESSION[:8]}-0000-4000-8000-{next(self._numbers):012d}"
        line = {"type": kind, "uuid": uuid, "timestamp": self.at.isoformat().replace("+00:00", "Z")}
        self.lines.append(line | {"sessionId": SESSION, "cwd": "/home/anna/shop", "message": message} | more)


def usage(plain: int = 0, read: int = 0, written: int = 0, output: int = 100) -> dict[str, int]:
    """Figures of one request."""
    return {
        "input_tokens": plain,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


def week(days: int = 5, turns: int = 12) -> Talk:
    """A week of work: days of turns with calls, long outputs, pauses in which a cache runs out, a fold each day."""
    talk = Talk()
    sizes = itertools.cycle((3, 80, 400, 20, 900))
    for day in range(days):
        talk.at = START + timedelta(days=day)
        for turn in range(turns):
            _turn(talk, day, turn, sizes)
        talk.compacts(f"Day {day}: the port is 50{day}4 and src/shop/cart.py holds what is left.")
    return talk


def _turn(talk: Talk, day: int, turn: int, sizes: Iterator[int]) -> None:
    talk.waits(minutes=50 if turn % 5 == 4 else 1)
    talk.user(
        f"DECISION: use port 50{day}4 because 3000 is taken by `{HOSTILE}`."
        if turn == 0
        else f"Turn {turn}: mend src/shop/part_{turn}.py, it takes {turn + 3} seconds since v1.{day}.{turn}."
    )
    base = 12_000 + turn * 9_000
    for step in range(3):
        talk.begins()
        cold = turn % 5 == 4 and step == 0
        figures = usage(20, 0 if cold else base, base + 3_000 if cold else 3_000, 400)
        talk.thinks(figures)
        call = talk.calls(
            "Bash", {"command": f"pytest tests/test_part_{turn % 4}.py -k step_{step}"}, figures
        )
        talk.results(call, "a line of the log, with an error in it\n" * next(sizes))
        talk.waits(seconds=40)
    talk.begins()
    talk.says(f"Part {turn} now takes 30 ms in src/shop/part_{turn}.py. {HOSTILE}", usage(20, base, 900, 250))
