"""The whole log as JSON lines in ASCII: a header, each event with its digests, and behind it the bytes it brought.

The chain of digests can be checked with nothing but SHA-256; `docs/care.md` says how, and a test does it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from dataclasses import fields
from typing import Any

from pinfold import __version__
from pinfold.server.export.source import Source
from pinfold.store.errors import PinfoldError
from pinfold.store.events import Kind
from pinfold.store.logged import LoggedEvent

FORMAT_VERSION = 1
PIECE_BYTES = 48 * 1024  # base64 makes 64 KiB of it
_ENVELOPE = [
    field.name for field in fields(LoggedEvent) if field.name not in ("body", "body_digest", "digest")
]
_LONGEST_CHARACTER = 4


async def json_lines(source: Source) -> AsyncIterator[str]:
    """Yield the lines, each with its line end."""
    yield _line(_header(source))
    seen: set[str] = set()
    async for event in source.log():
        line = _event(event)
        yield _line(line)
        if "text" in line:
            source.damaged.append(f"event {event.seq}")
        elif event.kind == Kind.ARTIFACT_SPILLED and event.body is not None:
            source.artifacts += 1
            if line["body"]["sha256"] not in seen:
                seen.add(line["body"]["sha256"])
                async for piece in _content(source, line["body"]):
                    yield _line(piece)
        source.tell(event)


def _line(facts: dict[str, Any]) -> str:
    return json.dumps(facts) + "\n"


def _header(source: Source) -> dict[str, Any]:
    return {
        "pinfold_export": FORMAT_VERSION,
        "pinfold": __version__,
        "project": source.store.project,
        "schema": source.end.schema,
        "newest": source.end.seq,
        "digest": source.end.digest.hex(),
        "session": source.session,
    }


def _event(event: LoggedEvent) -> dict[str, Any]:
    facts: dict[str, Any] = {name: getattr(event, name) for name in _ENVELOPE}
    try:
        facts["body"] = None if event.body is None else json.loads(event.body)
    except ValueError:
        facts |= {"body": None, "text": event.body}
    return facts | {"body_digest": event.body_digest.hex(), "digest": event.digest.hex()}


async def _content(source: Source, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Yield an artifact's bytes in pieces; a damaged one ends them, and is said."""
    start = 0
    try:
        while start < body["size_bytes"]:
            piece = (await source.store.artifact_bytes(body["number"], start, PIECE_BYTES)).content
            part = _part(piece, is_last=start + len(piece) >= body["size_bytes"])
            yield {"sha256": body["sha256"], "start": start} | part[1]
            start += part[0]
    except PinfoldError as error:
        source.damaged.append(f"A{body['number']}")
        yield {"sha256": body["sha256"], "start": start, "error": error.message}


def _part(piece: bytes, *, is_last: bool) -> tuple[int, dict[str, str]]:
    """Return how many bytes one line takes, and how: as text where they are text, cut between two characters."""
    for left_out in range(1 if is_last else _LONGEST_CHARACTER):
        whole = piece[: len(piece) - left_out]
        try:
            return len(whole), {"text": whole.decode()}
        except UnicodeDecodeError:
            continue
    return len(piece), {"base64": base64.b64encode(piece).decode()}
