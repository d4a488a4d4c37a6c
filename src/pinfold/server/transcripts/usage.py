"""The usage figures in a transcript: what each request took, as the client wrote it down."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from pinfold.context.lab.rent import Usage
from pinfold.server.clients import claude_code, codex
from pinfold.server.transcripts.lenient import count, instant, parsed, word
from pinfold.server.transcripts.lines import Lines
from pinfold.store import Progress

Read = Callable[[dict[str, Any]], "tuple[str, Usage] | None"]


class Figures:
    """The figures of a transcript whose lines are taken in one after the other."""

    def __init__(self, client: str) -> None:
        self._read = _READERS.get(client)
        self._found: dict[str, Usage] = {}

    def take(self, line: bytes) -> tuple[str, Usage] | None:
        """Return the request that a line has figures of, by its client's name for it; None where it tells nothing new.

        A request stands on several lines, the last of which is whole.
        """
        if self._read is None or b"_tokens" not in line:
            return None
        seen = self._read(parsed(line) or {})
        if seen is None or self._found.get(seen[0]) == seen[1]:
            return None
        self._found[seen[0]] = seen[1]
        return seen

    def in_order(self) -> list[Usage]:
        """Return all of them in order of time, one for each request."""
        return sorted(self._found.values(), key=lambda usage: usage.at)


def usages(path: Path, client: str, progress: Progress | None = None) -> list[Usage]:
    """Return a transcript's figures in order of time, one for each request; none for a client that writes none.

    Lines that cannot be read are passed over; `progress` is told the bytes read, of how many. Raises `OSError`.
    """
    figures = Figures(client)
    for line in Lines(path).telling(progress):
        figures.take(line.content)
    return figures.in_order()


def _claude(entry: dict[str, Any]) -> tuple[str, Usage] | None:
    match entry:
        case {"type": "assistant", "timestamp": at, "message": {"usage": dict(usage)} as message}:
            when = _instant(at)
            if when is None:
                return None
            lasting = usage.get("cache_creation")
            long = lasting.get("ephemeral_1h_input_tokens") if isinstance(lasting, dict) else 0
            written = count(usage.get("cache_creation_input_tokens")) or 0
            name = word(message.get("id")) or word(entry.get("uuid")) or str(at)
            return name, Usage(
                when,
                plain=count(usage.get("input_tokens")) or 0,
                read=count(usage.get("cache_read_input_tokens")) or 0,
                written=written,
                output=count(usage.get("output_tokens")) or 0,
                written_long=min(count(long) or 0, written),
            )
    return None


def _codex(entry: dict[str, Any]) -> tuple[str, Usage] | None:
    """Codex tells what of its input was cached; what is not is plain, for its receiver takes nothing for writing."""
    match entry:
        case {
            "timestamp": at,
            "payload": {"type": "token_count", "info": {"last_token_usage": dict(usage)} as info},
        }:
            when = _instant(at)
            if when is None:
                return None
            read = count(usage.get("cached_input_tokens")) or 0
            plain = max(0, (count(usage.get("input_tokens")) or 0) - read)
            output = count(usage.get("output_tokens")) or 0
            # The same figures are told again when nothing new was sent.
            return str(info.get("total_token_usage", at)), Usage(when, plain, read, 0, output)
    return None


def _instant(value: object) -> datetime | None:
    text = instant(value)
    return None if text is None else datetime.fromisoformat(text)


_READERS: dict[str, Read] = {claude_code.NAME: _claude, codex.NAME: _codex}
