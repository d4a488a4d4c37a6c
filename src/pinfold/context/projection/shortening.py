"""The two mildest strategies, at the source: cut disposable output, put the rest that is long behind its pointer."""

from __future__ import annotations

from pinfold.context.projection.history import Message, Shortened
from pinfold.context.projection.policy import Policy, Size
from pinfold.context.visible import size_text

PREVIEW_CHARS = 160


def at_source(message: Message, policy: Policy) -> Shortened | None:
    """Return how a message enters, if not as it is: the same for the same message and policy, at any time."""
    if message.pinned or message.role != "tool":
        return None
    tokens = policy.size(message.text)
    capped = within_cap(message, tokens, policy)
    if capped is not None:
        return Shortened(message.number, capped, "truncated")
    if message.pointer and tokens > policy.spill:
        return Shortened(message.number, preview(message, tokens), "externalized")
    return None


def within_cap(message: Message, tokens: int, policy: Policy) -> str | None:
    """Return what its tool's cap leaves of a result that takes `tokens`; None where that is all."""
    cap = policy.caps.get(message.tool)
    return cut(message.text, cap, policy.size) if cap is not None and tokens > cap else None


def one_line(message: Message, why: str) -> str:
    """What is left of a result that is reclaimed."""
    of = f" of {message.subject}" if message.subject else ""
    where = f'; fetch_pointer("{message.pointer}") shows it' if message.pointer else ""
    return f"[{message.tool or 'tool'} result{of}: {why}{where}]"


def preview(message: Message, tokens: int) -> str:
    """What stands for a long result: what it is, where all of it can be fetched, and how it begins."""
    size = size_text(len(message.text.encode("utf-8", "replace")))
    where = f": {message.pointer}" if message.pointer else ""
    shown = message.text[:PREVIEW_CHARS]
    return f"[{message.tool or 'tool'} result, {size}, {tokens:,} tokens{where}]\n{shown}…"


def cut(text: str, cap: int, size: Size) -> str:
    """Return the longest beginning of whole lines within `cap`, or of one line's characters, which says so."""
    mark = "\n[cut here: the rest was not kept]"
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle] + mark) <= cap else (low, middle - 1)
    line_end = text.rfind("\n", 0, low)
    return text[: line_end if line_end > 0 else low] + mark
