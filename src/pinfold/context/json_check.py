"""Whether content that looks like JSON is valid JSON, found out in bounded time and memory."""

from __future__ import annotations

import json
from typing import NoReturn

from pinfold.context.media import looks_like_json

MAX_CHECKED_BYTES = 8 * 1024 * 1024
_MAX_VALUES = 1_000_000
_HEAD_BYTES = 512

VALID = "valid"
INVALID = "invalid: "
JSON = "application/json"
JSON_LINES = "application/x-ndjson"


class JsonCheck:
    """Keeps up to 8 MiB of a stream for as long as it looks like JSON, and judges it at the end."""

    def __init__(self) -> None:
        self._head = b""
        self._kept: bytearray | None = bytearray()
        self._total_bytes = 0

    def feed(self, block: bytes) -> None:
        """Take in the next bytes of the stream."""
        self._total_bytes += len(block)
        if len(self._head) < _HEAD_BYTES:
            self._head += block[: _HEAD_BYTES - len(self._head)]
        if self._kept is None:
            return
        if self._total_bytes > MAX_CHECKED_BYTES or not self._hopeful():
            self._kept = None
        else:
            self._kept += block

    def _hopeful(self) -> bool:
        return len(self._head) < _HEAD_BYTES or looks_like_json(self._head)

    def result(self, first_line: bytes) -> tuple[str, str | None] | None:
        """Return media type and state (`valid`, `invalid: …`, `not checked: …`), or None if it is no JSON.

        `first_line` is the content's first line if it is short. JSON Lines have a media type and no state.
        """
        if not looks_like_json(self._head):
            return None
        if len(first_line) < self._total_bytes and _is_object(first_line):
            return JSON_LINES, None
        if self._kept is None:
            return JSON, "not checked: over 8 MiB"
        return _judge(self._kept)


def _is_object(line: bytes) -> bool:
    """Whether a line is a JSON object by itself, with its line end."""
    if not (line.startswith(b"{") and line.endswith(b"\n")):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _judge(content: bytearray) -> tuple[str, str | None] | None:
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        return JSON, "not checked: over 1,000,000 values"
    try:
        json.loads(content.decode("utf-8-sig"), parse_constant=_refuse, parse_int=str, object_pairs_hook=bool)
    except json.JSONDecodeError as error:
        return _explain(error)
    except UnicodeDecodeError as error:
        return JSON, f"{INVALID}not UTF-8 at byte {error.start:,}"
    except ValueError as error:
        return JSON, f"{INVALID}{error}"
    except RecursionError:
        return JSON, "not checked: nested too deeply"
    return JSON, VALID


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _explain(error: json.JSONDecodeError) -> tuple[str, str | None] | None:
    """Say where JSON breaks; `["a"] see there` on the first line is prose, further values below are lines."""
    if error.msg == "Extra data" and error.doc.lstrip().startswith("["):
        if error.lineno == 1:
            return None
    elif error.msg == "Extra data" and error.lineno > 1 and error.doc[error.pos] == "{":
        return JSON_LINES, None
    return (
        JSON,
        f"{INVALID}{error.msg[0].lower()}{error.msg[1:]} at line {error.lineno:,} column {error.colno:,}",
    )
