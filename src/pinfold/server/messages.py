"""One line becomes one message, or the reason why it cannot; and one message becomes one line of ASCII.

Nothing here imports the MCP SDK, and no line raises. Source: P19 to P21.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from pinfold.server.framing import EDGE_BYTES, LongLine

RequestId: TypeAlias = int | str
Body: TypeAlias = dict[str, Any]

MAX_DEPTH = 64

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ENDING = -32000


@dataclass(frozen=True, slots=True)
class Message:
    """A sound message of `size_bytes`; `id` is None for a notification and for a response."""

    body: Body
    id: RequestId | None
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that is answered with an error; `id` is the line's where it can be read without doubt."""

    code: int
    reason: str
    id: RequestId | float | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """A bad notification or response: nobody waits for an answer to it."""

    reason: str


class _UnreadableError(ValueError):
    """Well-formed text that is not acceptable as a message."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def read_line(line: bytes | LongLine) -> Message | Refusal | Noise:
    """Turn one line into a message, a refusal with its JSON-RPC error code, or noise."""
    if isinstance(line, LongLine):
        reason = f"The line has {line.size_bytes:,} bytes; the limit is {line.limit_bytes:,}."
        return Refusal(INVALID_REQUEST, reason, _recovered_id(line.head, line.tail))
    try:
        text = line.decode()
        body = _parse(text)
    except UnicodeDecodeError as error:
        reason = f"The line is not valid UTF-8 at byte {error.start}."
        return Refusal(PARSE_ERROR, reason, _recovered_id(line, line))
    except _UnreadableError as error:
        return Refusal(error.code, error.reason, _recovered_id(line, line))
    except ValueError:
        return Refusal(PARSE_ERROR, "The line is not valid JSON.", _recovered_id(line, b""))
    return _classified(body, len(line), _lone_surrogate(text))


def write_line(body: Body) -> bytes:
    """Return the message as one line of ASCII JSON with its newline; half characters become U+FFFD.

    Raises `ValueError`, `TypeError` or `RecursionError` for what is not JSON.
    """
    text = json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    if "\\ud" in text:
        text = _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
    return text.encode("ascii") + b"\n"


_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_UNNESTED = re.compile(r"[^][{}]++")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def _parse(text: str) -> object:
    if _depth(text) > MAX_DEPTH:
        raise _UnreadableError(INVALID_REQUEST, f"The message is nested deeper than {MAX_DEPTH} levels.")
    return _DECODER.decode(text)


def _depth(text: str) -> int:
    """Return how deep the text nests, or a bound on it: with few brackets it cannot be too deep."""
    openers = text.count("[") + text.count("{")
    if openers <= MAX_DEPTH:
        return openers
    brackets = _UNNESTED.sub("", _STRING.sub("", text))
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _object(pairs: list[tuple[str, Any]]) -> Body:
    body = dict(pairs)
    if len(body) < len(pairs):
        raise _UnreadableError(INVALID_REQUEST, "An object in the message has the same key twice.")
    return body


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _UnreadableError(PARSE_ERROR, "NaN and infinite numbers are not JSON.")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_finite)

_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.")


def _lone_surrogate(text: str) -> str | None:
    """Say which escape stands for half a character, if one does; raw ones were refused as invalid UTF-8."""
    if "\\ud" not in text and "\\uD" not in text:
        return None
    lone = next((found for found in _ESCAPE.finditer(text) if found[1]), None)
    if lone is None:
        return None
    return f"The text holds half a character ({lone[1]} without its partner); send whole characters."


def _classified(body: object, size_bytes: int, flaw: str | None) -> Message | Refusal | Noise:
    if not isinstance(body, dict):
        return Refusal(INVALID_REQUEST, "Each line must hold one JSON object; batches are not accepted.")
    if "method" not in body and ("result" in body or "error" in body):
        fault = flaw or _version_fault(body)
        return Noise(f"a response was dropped. {fault}") if fault else Message(body, None, size_bytes)
    fault = _version_fault(body) or _shape_fault(body)
    if fault:
        return Refusal(INVALID_REQUEST, fault, _echo(body.get("id")))
    fault = flaw or _params_fault(body)
    if "id" not in body:
        return Noise(f"a notification was dropped. {fault}") if fault else Message(body, None, size_bytes)
    return (
        Refusal(INVALID_PARAMS, fault, _echo(body["id"])) if fault else Message(body, body["id"], size_bytes)
    )


def _version_fault(body: Body) -> str | None:
    return None if body.get("jsonrpc") == "2.0" else 'A message must say "jsonrpc": "2.0".'


def _shape_fault(body: Body) -> str | None:
    if not isinstance(body.get("method"), str):
        return "A request must name its method as a string."
    if "id" in body and (isinstance(body["id"], bool) or not isinstance(body["id"], int | str)):
        return "A request's id must be a string or an integer."
    return None


def _params_fault(body: Body) -> str | None:
    return None if isinstance(body.get("params"), dict | None) else "A message's params must be an object."


def _echo(value: object) -> RequestId | float | None:
    """Return an id as an error may repeat it; None for one of a wrong type or with half a character in it."""
    if isinstance(value, str):
        return None if any("\ud800" <= char <= "\udfff" for char in value) else value
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


# Members with plain values at the very start or the very end of an object stand at its top level for certain,
# whatever lies between: if a string ended elsewhere than it seems, the closing brace would lie inside it.
_MEMBER = r'\s*+"[^"\\]*+"\s*+:\s*+(?:"[^"\\]*+"|[^\s,"{}\[\]]++)\s*+'
_OPENING = re.compile(rf"\s*+\{{(?:{_MEMBER}[,}}])*+")
_CLOSING = re.compile(rf"(?:[,{{]{_MEMBER})++\}}\s*$")
_ID = re.compile(r'[{,]\s*"id"\s*:\s*("[^"]*"|[^\s,}]+)')


def _recovered_id(head: bytes, tail: bytes) -> RequestId | float | None:
    """Return the one id at either end of an unparsed line; None when there is none, or more than one."""
    opening = _OPENING.match(head[:EDGE_BYTES].decode("utf-8", "surrogateescape"))
    closing = _CLOSING.search(tail[-EDGE_BYTES:].decode("utf-8", "surrogateescape"))
    found = set(_ids(opening)) | set(_ids(closing))
    if len(found) != 1:
        return None
    try:
        return _echo(_DECODER.decode(found.pop()))
    except ValueError:
        return None


def _ids(members: re.Match[str] | None) -> Iterator[str]:
    return iter(()) if members is None else iter(_ID.findall(members[0]))
