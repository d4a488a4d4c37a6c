"""Which exact strings a text holds: paths, identifiers, numbers with a unit, versions, commits and issues.

Patterns of its own, far simpler than those of `context/specifics.py`: what is measured must not define the measure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Specific = tuple[str, str]
"""Its kind, and the string by which a text holds it: a path's base name, a number with one blank before its unit."""

_ENDINGS = "c|cc|cfg|cpp|cs|css|go|h|html|ini|java|js|json|jsonl|jsx|kt|lock|log|md|mod|php|proto|py|rb|rs|scss|sh|sql"
_UNITS = (
    "%|ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|[KMG]i?B|kB|bytes?|tokens?|lines?|files?|tests?|px"
    "|commits?|sessions?|times|errors?|issues?|steps?|entries|rows?|items?|calls?"
)
_SHAPES = {
    "path": r"(?:~|\.{0,2})(?:/?[\w@+.-]+/)+[\w@+.-]*\w\.[A-Za-z]\w{0,5}\b"
    rf"|(?<![\w./])[\w-]+\.(?:{_ENDINGS}|sum|toml|tsx?|txt|ya?ml)\b",
    "issue": r"(?<![\w&])#\d+\b|\b[A-Z]{2,6}-\d+\b",
    "version": r"\bv?\d+\.\d+(?:\.\d+)+\b|\bv\d+\.\d+\b",
    "commit": r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b",
    "number": rf"(?<![\w.])\d+(?:[.,]\d+)* ?(?:{_UNITS})(?!\w)",
    "identifier": r"\b(?=\w*[a-z\d]_[a-z\d]|[A-Z\d]+_[A-Z]|\w*[a-z][A-Z]|[A-Z]+[A-Z][a-z]{2})[A-Za-z]\w{2,}\b",
}
_ANY = re.compile("|".join(f"(?P<{kind}>{shape})" for kind, shape in _SHAPES.items()))
_AMOUNT = re.compile(r"([\d.,]+) ?(.+)")
_ESCAPED_BREAK = re.compile(r"\\[nrt](?![a-z])|(?<=\")\\[nrt]")
_LONGEST = 100


def specifics_of(text: str) -> set[Specific]:
    """Return the specifics of a text, each once, without those of over 100 characters."""
    return {(kind, form) for kind, form in _found(text) if len(form) <= _LONGEST}


def _found(text: str) -> Iterator[Specific]:
    for match in _ANY.finditer(_ESCAPED_BREAK.sub(" ", text)):
        kind, form = match.lastgroup or "", match.group()
        if kind == "path":
            form = form.rsplit("/", 1)[-1]
        elif kind == "number":
            form = _AMOUNT.sub(r"\1 \2", form)
        yield kind, form


def holds(text: str, specific: Specific) -> bool:
    """Whether a text holds a specific, as a word: a path by its base name, a number without its unit."""
    kind, form = specific
    sought = form.split(" ")[0] if kind == "number" else form
    return sought in text and re.search(rf"(?<!\w){re.escape(sought)}(?!\w)", text) is not None
