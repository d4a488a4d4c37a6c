"""JSONPath (RFC 9535) into a JSON artifact, with the parts left out whose cost an argument could blow up."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, NoReturn

from anyio import to_thread

from pinfold.store.errors import InvalidInputError, TooLargeError
from pinfold.tools.body import Body, TextBody

if TYPE_CHECKING:
    from jsonpath_rfc9535 import JSONPathNode, JSONPathQuery

MAX_JSON_BYTES = 32 * 1024 * 1024
MAX_PATH_CHARS = 1_000
_MOST_MATCHES = 10_000
_MOST_BRANCHES = 64
_ACCEPTED = "Give a path such as $.items[0].name, $.items[*].id or $..error; filters ?(…) are left out."


@dataclass(frozen=True, slots=True)
class JsonMatches:
    """What a path found: one value as JSON, or a line `path: value` per match; `more` when cut at 10,000."""

    body: TextBody
    count: int
    more: bool


async def json_matches(body: Body, pointer: str, path: str) -> JsonMatches:
    """Return what `path` finds in a JSON body.

    Raises `InvalidInputError` for a path or content that cannot be read, `TooLargeError` above 32 MiB.
    """
    query = _compiled(path)
    if body.size_bytes > MAX_JSON_BYTES:
        hint = f'Use `match`, or `lines`: fetch_pointer(pointer="{pointer}#L1-100").'
        raise TooLargeError(f"{pointer}", body.size_bytes, MAX_JSON_BYTES, unit="bytes", hint=hint)
    content = (await body.read(0, MAX_JSON_BYTES)).content
    return await to_thread.run_sync(_found, content, query, pointer)


def _compiled(path: str) -> JSONPathQuery:
    """Return the query; refuses filters, a second `..`, and brackets that multiply: work stays linear."""
    import jsonpath_rfc9535 as jsonpath
    from jsonpath_rfc9535.segments import JSONPathRecursiveDescentSegment
    from jsonpath_rfc9535.selectors import FilterSelector

    try:
        query = jsonpath.compile(path)
    except (jsonpath.JSONPathError, RecursionError, ValueError):
        raise InvalidInputError("`json_path` cannot be read.", _ACCEPTED) from None
    selectors = [selector for segment in query.segments for selector in segment.selectors]
    if any(isinstance(selector, FilterSelector) for selector in selectors):
        raise InvalidInputError("`json_path` has a filter.", _ACCEPTED)
    descents = sum(isinstance(segment, JSONPathRecursiveDescentSegment) for segment in query.segments)
    if descents > 1 or prod(len(segment.selectors) for segment in query.segments) > _MOST_BRANCHES:
        raise InvalidInputError(
            "`json_path` branches too much.", "Use one .. at most, and fewer names per bracket."
        )
    return query


def _found(content: bytes, query: JSONPathQuery, pointer: str) -> JsonMatches:
    mark = secrets.token_hex(4)
    try:
        # A fraction stays the text it was: as a float, 1.10 would come back as 1.1 and 1e999 as no JSON at all.
        value = json.loads(content, parse_float=mark.__add__, parse_constant=_refuse_constant)
        nodes = list(islice(query.finditer(value), _MOST_MATCHES + 1))
        text = re.sub(f'"{mark}([^"]*)"', r"\1", "\n".join(_spelled(nodes[:_MOST_MATCHES])))
    except (ValueError, RecursionError):
        accepted = f'Read it as text: fetch_pointer(pointer="{pointer}").'
        raise InvalidInputError(f"{pointer} is not JSON that can be read.", accepted) from None
    return JsonMatches(TextBody(text), min(len(nodes), _MOST_MATCHES), len(nodes) > _MOST_MATCHES)


def _spelled(nodes: list[JSONPathNode]) -> Iterator[str]:
    for node in nodes:
        value = json.dumps(node.value, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate can stand in JSON as an escape; it goes out as one again.
        legible = value.encode("utf-8", "backslashreplace").decode()
        path = node.path().encode("utf-8", "backslashreplace").decode()
        yield legible if len(nodes) == 1 else f"{path}: {legible}"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
