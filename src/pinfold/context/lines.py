"""Lines of a brief, what they cost, and the room that is left for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.context.estimate import ceiling


@dataclass(frozen=True, slots=True)
class Line:
    """A line (or several, if stored text has line ends) without its last line end; `tokens` include that."""

    text: str
    tokens: int

    @property
    def chars(self) -> int:
        """Its characters with the line end."""
        return len(self.text) + 1


def line(text: str) -> Line:
    """Return a line whose tokens are not known, at the most that they can be."""
    return Line(text, ceiling(text) + 1)


class Room:
    """What is left of a budget in tokens and characters."""

    def __init__(self, tokens: int, chars: int) -> None:
        self.tokens = tokens
        self.chars = chars

    def holds(self, lines: Iterable[Line]) -> bool:
        """Whether all these lines fit."""
        lines = tuple(lines)
        return (
            sum(each.tokens for each in lines) <= self.tokens
            and sum(each.chars for each in lines) <= self.chars
        )

    def take(self, *lines: Line) -> bool:
        """Give room to all these lines, or to none of them where they do not fit."""
        if not self.holds(lines):
            return False
        for each in lines:
            self.tokens -= each.tokens
            self.chars -= each.chars
        return True

    def swap(self, taken: Line, wanted: Line) -> bool:
        """Take room for a line in place of one that has it already, if it fits."""
        tokens, chars = wanted.tokens - taken.tokens, wanted.chars - taken.chars
        if tokens > self.tokens or chars > self.chars:
            return False
        self.tokens -= tokens
        self.chars -= chars
        return True
