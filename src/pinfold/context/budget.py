"""How much of a model's window is left for history once everything fixed has its place.

`history = window - output reserve - the client's own prompt and tools - pinfold's tools - safety margin`, in tokens.
Other servers' tools, memory files and skills come on top: nobody but the client knows them. Source: design 3 (Budget).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Habit:
    """What a client takes of every window. `own_tokens` are its prompt, its tools and its first reminders."""

    window: int
    own_tokens: int
    output_reserve: int
    margin_tokens: int = 0
    margin_percent: int = 0


_HABITS = {
    "claude-code": Habit(200_000, own_tokens=12_300, output_reserve=20_000, margin_tokens=13_000),
    # Its windows are those left beside the output; it compacts at 90 % of them.
    "codex": Habit(272_000, own_tokens=13_400, output_reserve=0, margin_percent=10),
}
"""Own tokens: the first requests of Claude Code 2.1.332 and Codex 0.171 (gpt-6.2-sol), counted in o200k."""

_UNKNOWN = Habit(200_000, own_tokens=13_400, output_reserve=20_000, margin_percent=10)

_WINDOWS = (
    (re.compile(r"\[1m\]"), 1_000_000),
    (re.compile(r"claude-\w+-4-[0-6]\b"), 200_000),
    (re.compile(r"claude-"), 1_000_000),
    (re.compile(r"gpt-6\.1-|gpt-6\.2-sol"), 500_000),
    (re.compile(r"gpt-(?:5\.[56]|6)"), 272_000),
)
"""The first that a model's name matches. As Claude Code 2.1.332 reports them, and the catalogue of Codex 0.171."""


@dataclass(frozen=True, slots=True)
class Window:
    """One model's window in one client; `assumed` where neither its size nor a model that is known was given."""

    client: str | None
    model: str | None
    tokens: int
    assumed: bool
    habit: Habit

    @property
    def margin(self) -> int:
        """How far from full the client compacts."""
        return self.habit.margin_tokens + self.tokens * self.habit.margin_percent // 100


def window_of(client: str | None, model: str | None = None, tokens: int | None = None) -> Window:
    """Return the window of a client's model; `tokens` overrides what is known of it."""
    habit = _HABITS.get(client or "", _UNKNOWN)
    known = tokens or _known(model)
    return Window(client, model, known or habit.window, assumed=known is None, habit=habit)


def _known(model: str | None) -> int | None:
    name = (model or "").lower()
    return next((tokens for pattern, tokens in _WINDOWS if pattern.search(name)), None)


@dataclass(frozen=True, slots=True)
class HistoryBudget:
    """A window and pinfold's part of it: `tools` are schemas and instructions, `pins` a part of `brief`."""

    window: Window
    tools: int
    brief: int
    pins: int

    @property
    def history(self) -> int:
        """What is left for history, the brief included; 0 where the fixed parts alone fill the window."""
        taken = (
            self.window.habit.output_reserve + self.window.habit.own_tokens + self.window.margin + self.tools
        )
        return max(0, self.window.tokens - taken)

    def share(self, tokens: int) -> float:
        """Return the part of the window that so many tokens take, 0 to 1."""
        return tokens / self.window.tokens
