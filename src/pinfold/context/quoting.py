"""Stored text on one line outside a fence: made visible, bounded, quoted as JSON."""

from __future__ import annotations

import json

from pinfold.context.visible import clip, visible

_ELLIPSIS = "..."


def one_line(text: str, max_chars: int) -> str:
    """Return the start of a text on one line, in whole characters, with `...` where it is cut."""
    flat = " ".join(text[: max_chars * 4].split())
    if len(flat) > max_chars:
        flat = clip(flat, max_chars - len(_ELLIPSIS)) + _ELLIPSIS
    elif len(text) > max_chars * 4:
        flat += _ELLIPSIS
    return visible(flat)


def quoted(text: str, max_chars: int) -> str:
    """Return the start of a stored text as a JSON string, for lines outside a fence; nothing for no text."""
    return json.dumps(one_line(text, max_chars), ensure_ascii=False) if text else ""
