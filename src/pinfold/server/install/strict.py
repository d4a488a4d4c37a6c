"""Files that we can read and write, and that do nothing: their client cannot read them, or was told to run no hook."""

from __future__ import annotations

import json

from pinfold.server.install.entries import Target
from pinfold.server.install.trees import find

_NO_HOOKS = "disableAllHooks"  # Claude Code's


def caution(target: Target, text: str) -> str:
    """Return what a person has to mend in a file before what we put there works, empty where it does already."""
    return unread(target, text) or hooks_off(target, text)


def unread(target: Target, text: str) -> str:
    """Return why the client skips all of a file: JSON with comments or trailing commas; empty where it reads it."""
    if not target.strict_for:
        return ""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{target.strict_for} does not read {target.path.name} with comments or trailing commas"
        return f"{what} (line {_line(text, error.pos)}): until they are gone, nothing in it counts."
    return ""


def hooks_off(target: Target, text: str) -> str:
    """Return that a file tells its client to run no hook, and empty where it does not, or none of ours is in it."""
    if not any(entry.path[0] == "hooks" for entry in target.entries):
        return ""
    if find(target.syntax.read(text), (_NO_HOOKS,)) is not True:
        return ""
    return f'"{_NO_HOOKS}": true stands in {target.path.name}: until it is gone, no hook runs.'


def _line(text: str, place: int) -> int:
    """Return the line of a fault, counted from 1; a trailing comma is noticed only at the bracket after it."""
    before = text[:place].rstrip() if text[place : place + 1] in ("}", "]") else text[:place]
    return before.count("\n") + 1
