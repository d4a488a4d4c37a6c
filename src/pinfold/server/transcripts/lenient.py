"""JSON that should have a known shape and may have any: what is not as expected is absent, and never an error."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

_SURROGATE = rb"\\u[dD][89a-fA-F]"
_MOST = 10**15
_LONE = "[\ud800-\udfff]"


def parsed(line: bytes) -> Json | None:
    """Return the JSON object that a line is, None if it is none.

    Bytes that are no UTF-8 and lone surrogates become U+FFFD.
    """
    try:
        value = json.loads(line.removeprefix(BOM_UTF8).decode("utf-8", "replace"))
        if b"\\u" in line and re.search(_SURROGATE, line):
            value = _legible(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def table(value: object) -> Json:
    """Return a value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Any]:
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def word(value: object) -> str | None:
    """Return a value if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """Return a value if it is a whole number of at least 0 that may count something."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


def instant(value: object) -> str | None:
    """Return an ISO 8601 instant in UTC with microseconds, as the log writes it; a time without zone is UTC's."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return f"{moment.isoformat(timespec='microseconds')[:26]}Z"


def _legible(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(_LONE, "\ufffd", value)
    if isinstance(value, list):
        return [_legible(item) for item in value]
    if isinstance(value, dict):
        return {_legible(key): _legible(item) for key, item in value.items()}
    return value
