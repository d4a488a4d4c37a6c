"""Stored text with something marked in it: pointers that pinfold put there as links, and what a search was for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from pinfold.context.visible import visible

_LINK = Markup('<a class="pointer" href="{0}">{0}</a>')
_LINE_START = re.compile(
    r"^(?:(?:State at checkpoint|Last fold) (?=[CF][0-9]+[ ,]|[CF][0-9]+$)|(?=[PACHF][0-9]+(?:  |$)))"
    r"([PACHF][1-9][0-9]{0,14})",
    re.MULTILINE,
)
_PHRASE_OR_WORD = re.compile(r'"([^"]+)"|([\w$@./:-]*\w)')
_LEAST_CHARS = 2


def linked(text: str) -> Markup:
    """Return a text in which each line that begins with a pointer, as pinfold writes them, leads there.

    Elsewhere in a text P7 may be anything.
    """
    shown = visible(text)
    found = list(_LINE_START.finditer(shown))
    return _joined(shown, [(match.start(1), match.end(1)) for match in found], _LINK)


def sought(text: str, query: str) -> Markup:
    """Return a text in which what a query asks for is marked, in any case and also inside of words."""
    shown = visible(text)
    words = {quoted or word for quoted, word in _PHRASE_OR_WORD.findall(query)}
    parts = sorted((word for word in words if len(word) >= _LEAST_CHARS), key=len, reverse=True)
    if not parts:
        return escape(shown)
    found = re.finditer("|".join(map(re.escape, parts)), shown, re.IGNORECASE)
    return _joined(shown, [match.span() for match in found], Markup("<mark>{0}</mark>"))


def _joined(text: str, spans: Iterable[tuple[int, int]], form: Markup) -> Markup:
    pieces: list[Markup] = []
    done = 0
    for start, stop in spans:
        pieces += (escape(text[done:start]), form.format(text[start:stop]))
        done = stop
    return Markup("").join([*pieces, escape(text[done:])])
