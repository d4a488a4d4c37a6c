"""One line of a text around what was looked for.

Offsets are found in a copy of the text that is folded character by character, so that accents, case and
spelling of identifiers do not hide a match. Time is linear in the text. Source: design 2, search_history.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from pinfold.store.words import fold, stem

MAX_CHARS = 160
ELLIPSIS = "…"

_LEAD = 50
_MAX_MATCHES = 2_000
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """One line of a text, and the number (from 1) of the text's line on which its match begins."""

    text: str
    line: int


def snippet(text: str, forms: Sequence[str], width: int = MAX_CHARS) -> Snippet:
    """Return at most `width` characters of the text on one line, an ellipsis where it was cut.

    `forms` are those of `query.Line`, the most telling first. The window with the most telling matches is
    chosen, the first such; without any match it is the beginning. No cut falls inside a character as a reader
    sees it.
    """
    whole = unicodedata.normalize("NFC", text)
    found = _matches(whole, forms)
    middle = _best(found, width - _LEAD) if found else 0
    return Snippet(_window(whole, middle, width), whole.count("\n", 0, middle) + 1)


def _matches(text: str, forms: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return (start, stop, form's place), by start; inside of words only if nothing stands on its own."""
    folded = _aligned(text)
    for pattern in _patterns(tuple(forms)):
        matches = islice(pattern.finditer(folded), _MAX_MATCHES)
        found = [(match.start(), match.end(), match.lastindex or 0) for match in matches]
        if found:
            return found
    return []


@lru_cache(maxsize=64)
def _patterns(forms: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return one pattern for whole words and one for anything, with a group for each form."""
    if not forms:
        return ()
    either = "|".join(f"({_pattern(form)})" for form in forms)
    return re.compile(rf"(?<![^\W_])(?:{either})"), re.compile(either)


def _pattern(form: str) -> str:
    """Turn `get user by id` into what also finds `getUserById` and `get_user_by_id`."""
    return r"[\W_]{0,3}".join(map(_beginning, form.split()))


def _beginning(token: str) -> str:
    """Turn a word into a pattern of what its forms begin with, so that `queries` finds `query`, too."""
    if not token.isascii():
        return re.escape(token)
    shorter = stem(token).removesuffix("i") if len(token) > 3 else token
    return re.escape(shorter) + r"\w{0,4}?"


def _best(found: list[tuple[int, int, int]], room: int) -> int:
    """Return where the best window's first match starts; the earlier a form stands, the more it weighs."""
    starts = [start for start, _, _ in found]
    best, best_worth = starts[0], 0.0
    for i, (start, stop, _) in enumerate(found):
        reach = bisect_left(starts, start + max(room, stop - start), i)
        worth = sum(1 / form for form in {form for _, _, form in found[i : min(reach, i + 64)]})
        if worth > best_worth:
            best, best_worth = start, worth
    return best


@lru_cache(maxsize=8192)
def _one(character: str) -> str:
    """Fold one character to one character, or keep it."""
    return (fold(character) or character)[0]


def _aligned(text: str) -> str:
    return text.lower() if text.isascii() else "".join(map(_one, text))


def _window(text: str, middle: int, width: int) -> str:
    """Cut a line of at most `width` characters that holds what starts at `middle`."""
    begin = max(0, middle - 4 * width)
    left = _SPACES.sub(" ", text[begin:middle]).lstrip()
    right = _SPACES.sub(" ", text[middle : middle + 4 * width]).rstrip()
    more_before = begin > 0 and bool(text[:begin].strip())
    more_behind = bool(text[middle + 4 * width :].strip())
    if len(left) + len(right) + more_before + more_behind <= width:
        return ELLIPSIS * more_before + left + right + ELLIPSIS * more_behind
    lead = min(len(left), max(_LEAD, width - 2 - len(right)))
    cut_left = _after(left, len(left) - lead) if lead < len(left) or more_before else 0
    line = left[cut_left:] + right
    head = ELLIPSIS if cut_left or more_before else ""
    room = width - len(head)
    if len(line) <= room and not more_behind:
        return head + line
    stop = _before(line, min(len(line), room - len(ELLIPSIS)))
    return f"{head}{line[:stop].rstrip()}{ELLIPSIS}"


def _after(text: str, place: int) -> int:
    """Return a good cut at or behind `place`: behind a blank if one is near, never inside a grapheme."""
    blank = text.find(" ", place, place + 15)
    if blank >= 0:
        return blank + 1
    while place < len(text) and joins(text, place):
        place += 1
    return place


def _before(text: str, place: int) -> int:
    """Return a good cut at or before `place`; inside a grapheme only where one fills the whole line."""
    blank = text.rfind(" ", max(0, place - 15), place + 1)
    if blank > 0:
        return blank
    cut = place
    while cut > 0 and joins(text, cut):
        cut -= 1
    return cut or place


def joins(text: str, place: int) -> bool:
    """Whether the characters on both sides of `place` belong to one grapheme, as far as common text goes."""
    if not 0 < place < len(text):
        return False
    before, behind = text[place - 1], text[place]
    if before == "\u200d" or behind in "\u200d\ufe0e\ufe0f\u20e3" or "\U0001f3fb" <= behind <= "\U0001f3ff":
        return True
    if unicodedata.category(behind)[0] == "M":
        return True
    return _is_flag_letter(behind) and _flag_letters_before(text, place) % 2 == 1


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, place: int) -> int:
    start = place
    while start > 0 and _is_flag_letter(text[start - 1]):
        start -= 1
    return place - start
