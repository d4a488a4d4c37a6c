"""A long session as Claude Code writes it down: real code that was read, made prose, output of commands.

Envelopes are those of version 2.1; a tool's result stands twice in its line, as the client writes it. Code is that
of the standard library, since made words have no identifiers to take apart.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.text import Prose
from pinfold.store.commands import Message

_ABOUT = {
    "isSidechain": False,
    "userType": "external",
    "entrypoint": "cli",
    "cwd": "/home/ada/shop",
    "sessionId": "7d03e2e8-24a4-41ac-90a9-78dd512ea017",
    "version": "2.1.332",
    "gitBranch": "main",
}
_USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 1_204,
    "cache_read_input_tokens": 48_211,
    "output_tokens": 212,
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 1_204},
}
_BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)
_MODULES = ("argparse", "ast", "datetime", "doctest", "inspect", "pathlib", "subprocess", "tarfile", "typing")
_TURN = ("prompt", "reply", "read", "reply", "bash", "read", "bash", "reply")


@dataclass(frozen=True, slots=True)
class Said:
    """One line of the transcript, and the message in it."""

    line: bytes
    message: Message


def session(lines: int, seed: int) -> Iterator[Said]:
    """Yield `lines` lines with about 2 KB of text each, the same for the same seed."""
    made = _Session(seed)
    for _, kind in zip(range(lines), cycle(_TURN), strict=False):
        yield getattr(made, kind)()


class _Session:
    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._prose = Prose(seed)
        folder = Path(json.__file__).parents[1]
        self._code = [(folder / f"{name}.py").read_text("utf-8").splitlines() for name in _MODULES]
        self._names = [self._prose.words(2).replace(" ", glue) for glue in ("_", "") * 200]
        self._seconds = 0

    def prompt(self) -> Said:
        """What the user asks for."""
        text = f"Please look at {self._name()}: {self._prose.words(30)}. Keep `{self._name()}` as it is."
        return self._said("user", text, {"role": "user", "content": text})

    def reply(self) -> Said:
        """What the assistant says."""
        sentences = (f"{self._prose.words(14)} — see `{self._name()}`" for _ in range(8))
        text = ".\n".join(sentences)
        return self._said("assistant", text, self._spoken([{"type": "text", "text": text}]))

    def read(self) -> Said:
        """A file that was read, with the line numbers that the client puts in front."""
        code, first, count = self._excerpt(40, 160)
        text = "\n".join(f"{at:>6}→{line}" for at, line in enumerate(code, first))
        file = {
            "filePath": f"/home/ada/shop/{self._name()}.py",
            "content": "\n".join(code),
            "numLines": count,
        }
        return self._result(text, {"type": "text", "file": file})

    def bash(self) -> Said:
        """The output of a command: lines of a search, a test's report."""
        code, first, _ = self._excerpt(5, 60)
        place = f"src/{self._name()}/{self._name()}.py"
        text = "\n".join(f"{place}:{at}: {line.strip()}" for at, line in enumerate(code, first))
        return self._result(text, {"stdout": text, "stderr": "", "interrupted": False, "isImage": False})

    def _name(self) -> str:
        return self._chance.choice(self._names)

    def _excerpt(self, least: int, most: int) -> tuple[list[str], int, int]:
        source = self._chance.choice(self._code)
        count = self._chance.randint(least, most) // 2
        first = self._chance.randrange(len(source) - count)
        return source[first : first + count], first, count

    def _result(self, text: str, whole: dict[str, Any]) -> Said:
        block = {"tool_use_id": f"toolu_{self._id()[:24]}", "type": "tool_result", "content": text}
        message = {"role": "user", "content": [block]}
        return self._said("tool_result", text, message, {"toolUseResult": whole})

    def _spoken(self, content: list[dict[str, Any]]) -> dict[str, Any]:
        about = {
            "id": f"msg_{self._id()[:24]}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus",
        }
        return {**about, "content": content, "stop_reason": None, "stop_sequence": None, "usage": _USAGE}

    def _said(
        self, role: str, text: str, message: dict[str, Any], more: dict[str, Any] | None = None
    ) -> Said:
        self._seconds += 7
        at = f"{_BEGAN + timedelta(seconds=self._seconds):%Y-%m-%dT%H:%M:%S}.535Z"
        own = {"uuid": self._id(), "parentUuid": self._id(), "timestamp": at, "type": message["role"]}
        whole = {**own, **_ABOUT, "message": message, **(more or {})}
        line = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
        return Said(line, Message(role, text, external_id=own["uuid"], at=at, tokens=len(text) // 4))

    def _id(self) -> str:
        digits = f"{self._chance.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
