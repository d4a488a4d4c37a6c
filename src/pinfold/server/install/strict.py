"""Files that we can read and their own client cannot: JSON with comments or trailing commas."""

from __future__ import annotations

import json

from pinfold.server.install.entries import Target


def caution(target: Target, text: str) -> str:
    """Return what a person has to know of a file whose client skips all of it, empty where it reads it."""
    if not target.strict_for:
        return ""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{target.strict_for} does not read {target.path.name} with comments or trailing commas"
        return f"{what} (line {_line(text, error.pos)}): until they are gone, nothing in it counts."
    return ""


def _line(text: str, place: int) -> int:
    """Return the line of a fault, counted from 1; a trailing comma is noticed only at the bracket after it."""
    before = text[:place].rstrip() if text[place : place + 1] in ("}", "]") else text[:place]
    return before.count("\n") + 1
