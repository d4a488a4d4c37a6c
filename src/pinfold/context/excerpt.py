"""The first and last lines of a text within a number of tokens, with a mark that says what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pinfold.context.visible import clip, clip_front, size_text, visible

KEPT_BYTES = 8 * 1024
"""How much of each end is kept: more than `MAX_CHARS` of any script, so a character cut there is never shown."""

MAX_CHARS = 1_000
_HEAD_SHARE = 0.6
_BROKEN = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a content: its first and last bytes (all of it if short), its size and its line ends."""

    head: bytes
    tail: bytes
    total_bytes: int
    newlines: int


def _decoded(raw: bytes) -> str:
    """Decode so that each broken byte is one character, and `_encoded` gives the bytes back."""
    return raw.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(text: str) -> str:
    r"""Return text as a reader sees it, broken bytes as `\xNN`."""
    return visible(_BROKEN.sub(lambda found: f"\\x{ord(found.group()) - 0xDC00:02x}", text))


def _first_lines(text: str, max_chars: int) -> str:
    """Return whole lines where they fill at least half of the room, else a cut line."""
    part = clip(text, max_chars)
    whole = part[: part.rfind("\n") + 1]
    return whole if 2 * len(whole) >= len(part) else part


def _last_lines(text: str, max_chars: int) -> str:
    part = clip_front(text, max_chars)
    whole = part[part.find("\n") + 1 :] if "\n" in part else ""
    return whole if 2 * len(whole) >= len(part) else part


def excerpt(ends: Ends, note: str, fits: Callable[[str], bool]) -> str:
    """Return the longest excerpt that fits: all of a short text, else first lines, mark, last lines.

    `note` stands in the mark if there is one. `fits` is asked about a dozen candidates of at most `MAX_CHARS`
    characters (more where hidden ones are spelled out).
    """
    if ends.total_bytes <= len(ends.head):
        whole = _shown(_decoded(ends.head)).removesuffix("\n")
        if fits(whole):
            return whole
    head, tail = _decoded(ends.head), _decoded(ends.tail)
    low, high = 0, min(MAX_CHARS, len(head), len(tail))
    best = _joined(ends, "", "", note)
    while low < high:
        middle = (low + high + 1) // 2
        room = round(middle * _HEAD_SHARE)
        candidate = _joined(ends, _first_lines(head, room), _last_lines(tail, middle - room), note)
        if fits(candidate):
            low, best = middle, candidate
        else:
            high = middle - 1
    return best


def _joined(ends: Ends, first: str, last: str, note: str) -> str:
    lines = ends.newlines - first.count("\n") - last.count("\n")
    left_bytes = ends.total_bytes - len(_encoded(first)) - len(_encoded(last))
    counted = f"{lines:,} line{'' if lines == 1 else 's'}, " if lines > 0 else ""
    mark = f"… {counted}{size_text(left_bytes)} left out{note} …"
    shown = (_shown(first).removesuffix("\n"), mark, _shown(last).removesuffix("\n"))
    return "\n".join(part for part in shown if part)
