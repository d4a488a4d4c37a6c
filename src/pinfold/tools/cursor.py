"""Cursors: a place to go on from, bound to the call that it continues."""

from __future__ import annotations

import hashlib
import re

from pinfold.store.errors import InvalidInputError

_CURSOR = re.compile(r"([0-9a-f]{1,14})\.([0-9a-f]{6})", re.ASCII)


def _binding(place: str, call: str) -> str:
    return hashlib.sha256(f"{place}\n{call}".encode()).hexdigest()[:6]


def encode(at: int, call: str) -> str:
    """Return the cursor for position `at` of what `call` (its canonical text without cursor) asks for."""
    place = f"{at:x}"
    return f"{place}.{_binding(place, call)}"


def decode(cursor: str, call: str) -> int:
    """Return the position; raises `InvalidInputError` for a cursor that belongs to another call."""
    found = _CURSOR.fullmatch(cursor.strip())
    if not found or _binding(found[1], call) != found[2]:
        accepted = "Repeat the last call and add the `next` it gave, or leave the cursor out to begin anew."
        raise InvalidInputError("The cursor does not belong to this call.", accepted)
    return int(found[1], 16)
