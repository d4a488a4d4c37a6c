"""Token counts without a tokenizer: a ceiling, and a middle guess, for text that was not counted when it was written.

Measured against o200k in samples of 200 characters: never below the true count on prose, code, logs, JSON, hex,
base64 and twelve scripts; above it by half on prose and code. Words of random letters can exceed it.
"""

from __future__ import annotations

import re
from functools import cache

_PIECE = (
    r"(?P<word>(?<![A-Za-z0-9])[A-Z]?[a-z]+(?![0-9A-Z]))|(?P<soup>[A-Z]?[a-z]+|[A-Z]+)|(?P<free> (?![0-9 ]))"
    r"|(?P<one>[0-9]{1,3}|[ \t]+|[\x00-\x7f]|[\u3040-\u30ff])"
    r"|(?P<letters>[\u0370-\u052f\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f]+)|(?P<pair>[\xa0-\u07ff\u2010-\u2027\u3000-\uffff])"
    r"|(?P<many>.)"
)
_FLAT = {"free": 0, "one": 1, "pair": 2, "many": 4}


def ceiling(text: str) -> int:
    """Return a number of o200k tokens that a text of a few words or more does not exceed; linear time."""
    return sum(map(_cost, _piece().finditer(text)))


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(_PIECE, re.DOTALL)


def guess(text: str) -> int:
    """Return about how many o200k tokens a text has: on prose, code and logs within a third of the true count."""
    return (2 * ceiling(text) + 2) // 3


def rough(text: str) -> int:
    """Return a token for four characters, for the many texts of a transcript that nobody waits to have counted."""
    return (len(text) + 3) // 4


def _cost(piece: re.Match[str]) -> int:
    kind = piece.lastgroup or "many"
    length = piece.end() - piece.start()
    if kind == "word":
        return 1 + (length - 1) // 3 if length < 16 else 2 * length // 3
    if kind == "soup":
        return 1 + 2 * length // 3
    return _FLAT[kind] if kind in _FLAT else 1 + 2 * length // 3
