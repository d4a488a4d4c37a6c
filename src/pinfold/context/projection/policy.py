"""What a projection may do, and within which limits. All sizes are tokens, all times seconds. Source: design 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pinfold.context.projection.history import Message
from pinfold.context.tokens import count

Size = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Budget:
    """A model's window and what of it is not history's."""

    window: int
    output_reserve: int = 0
    system_prompt: int = 0
    tool_definitions: int = 0
    safety_margin: int = 0

    @property
    def history(self) -> int:
        """What is left for messages; never below zero."""
        fixed = self.output_reserve + self.system_prompt + self.tool_definitions + self.safety_margin
        return max(0, self.window - fixed)


@dataclass(frozen=True, slots=True)
class Cache:
    """The receiver's prompt cache: how long a prefix stays, and the prices of reading and writing it, in plain ones."""

    lifetime_s: float = 300.0
    read: float = 0.1
    write: float = 1.25

    def is_cold(self, idle_s: float) -> bool:
        """Whether nothing was sent for so long that the prefix is gone."""
        return idle_s >= self.lifetime_s

    def worth(self, won: int, rewritten: int, turns: int) -> float:
        """What `won` tokens less to read in each of `turns` requests are worth above writing `rewritten` anew.

        In tokens at the plain price; below zero where it does not pay.
        """
        return won * self.read * turns - rewritten * (self.write - self.read)


@dataclass(frozen=True, slots=True)
class Policy:
    """How a request is kept within its budget.

    `caps` are the most tokens of a tool's disposable output; results over `spill` become a preview and a pointer;
    results that are `stale_turns` user turns old may be reclaimed. A fold takes the oldest `fold_batch` messages;
    without it, all but the newest `keep`. `size` counts the tokens of a text; `frame` is what each message costs
    beyond its text and inputs.
    """

    budget: Budget
    caps: Mapping[str, int] = field(default_factory=dict)
    spill: int = 2_000
    stale_turns: int = 10
    fold_batch: int | None = None
    keep: int = 4_000
    cache: Cache = field(default_factory=Cache)
    size: Size = count
    frame: int = 0

    def tokens(self, message: Message) -> int:
        """Return what a message costs."""
        inputs = self.size(message.inputs) if message.inputs else 0
        return self.size(message.text) + inputs + self.frame
