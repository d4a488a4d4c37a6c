"""How much of something fits a reply: exact tokens, measured on the very text that goes out.

A byte-pair encoding never has more tokens than bytes, so what is short enough is never counted and the
vocabulary stays unloaded. Source: design 2 (a reply fits), design 6 (round trips).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anyio import to_thread

from pinfold.context.tokens import count

DEFAULT_TOKENS = 1_500
LEAST_TOKENS = 50
MOST_TOKENS = 20_000
REPLY_CHARS = 8_000
_FRAMING_CHARS = 800
_CHARS_PER_TOKEN = 6

Shown = Callable[[int], tuple[str, ...]]
"""Gives the texts that a reply would carry if it kept so many units."""


@dataclass(frozen=True, slots=True)
class Room:
    """What the stored part of a reply may take; framing lines come on top."""

    tokens: int = DEFAULT_TOKENS
    chars: int = REPLY_CHARS - _FRAMING_CHARS


def room_for(max_tokens: int, *, asked: bool) -> Room:
    """Return the room of a call: 8,000 characters in all, more only where the caller asked for more."""
    usual = REPLY_CHARS - _FRAMING_CHARS
    return Room(max_tokens, max(usual, max_tokens * _CHARS_PER_TOKEN) if asked else usual)


def load(texts: tuple[str, ...], room: Room) -> float:
    """Return how full the room would be with the heaviest of these texts; above 1 it does not fit."""
    return max((_load(text, room) for text in texts), default=0.0)


def _load(text: str, room: Room) -> float:
    chars = len(text) / room.chars
    if chars > 1 or len(text.encode("utf-8", "surrogatepass")) <= room.tokens:
        return chars
    return max(chars, count(text) / room.tokens)


def fitting(size: int, shown: Shown, room: Room) -> int:
    """Return how many of `size` units fit, nearly the most that do; 0 if not even one does. Blocks."""
    keep = size
    while keep > 0:
        full = load(shown(keep), room)
        if full <= 1:
            return keep
        keep = min(keep - 1, int(keep * 0.97 / full))
    return 0


async def fitting_async(size: int, shown: Shown, room: Room) -> int:
    """Return `fitting(size, shown, room)`, worked out on a worker thread unless it is plain that all fits."""
    if all(
        len(text.encode("utf-8", "surrogatepass")) <= min(room.tokens, room.chars) for text in shown(size)
    ):
        return size
    return await to_thread.run_sync(fitting, size, shown, room)
