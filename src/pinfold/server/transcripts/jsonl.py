"""Conversations from any other source: one object a line with `external_id`, `kind`, `text`, `at` and `session`."""

from __future__ import annotations

import hashlib

from pinfold.server.transcripts.items import Item, Spoken
from pinfold.server.transcripts.lenient import count, instant, parsed, word

NAME = "jsonl"
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "tool_call": "tool_call"}


class JsonLines:
    """Reads one file; see `items.Format`.

    Only `text` must be there. `kind` is user, assistant, tool_call or tool_result; what has another one (a commit, a
    note) was said by neither side and is kept as the result of a tool of that name. `session` is the conversation,
    `at` an ISO 8601 instant. A line without `external_id` is known by its digest.
    """

    client = NAME
    looks_back_bytes = 0
    is_open = False

    def __init__(self) -> None:
        self.unknown = 0

    def items(self, line: bytes) -> list[Item]:
        """Return the message that a line is; see `items.Format`."""
        entry = parsed(line) or {}
        text, kind = word(entry.get("text")), word(entry.get("kind")) or "user"
        if text is None:
            self.unknown += 1
            return []
        role = _ROLES.get(kind, "tool_result")
        tool = word(entry.get("tool")) or (kind if kind != role and kind not in _ROLES else None)
        external_id = _name(entry.get("external_id")) or hashlib.sha256(line).hexdigest()[:24]
        session = _name(entry.get("session"))
        return [Spoken(external_id, role, text, instant(entry.get("at")), tool=tool, conversation=session)]


def _name(value: object) -> str | None:
    """Return a name, which in other sources often is a number."""
    number = count(value)
    return word(value) if number is None else str(number)
