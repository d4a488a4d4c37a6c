"""One line of a text around what was looked for.

Offsets are found in a copy of the text that is folded character by character, so that accents, case and
spelling of identifiers do not hide a match. No pattern can match one place in two ways, so time is linear in
the text; of a long text only the most promising parts are searched with patterns. Source: design 2,
search_history; P32.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from pinfold.store.words import fold, stem

MAX_CHARS = 160
ELLIPSIS = "…"
BETWEEN_LINES = " | "

_LEAD = 50
_SHOWN_BEFORE = 40
_MOST_TOKENS = 40
_PART_CHARS = 1 << 16
_PARTS = 4
_OVER_THE_END = 400
_WEIGHT = 720_720
_SPACES = re.compile(r"\s+")
_STARTS, _STOPS = r"(?<![^\W_])", r"(?![^\W_])"


@dataclass(frozen=True, slots=True)
class Snippet:
    """One line of a text, and the number (from 1) of the text's line on which its match begins."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Place:
    """A pattern, and the strings of which a text holds all of one group wherever the pattern matches."""

    pattern: str
    needed: tuple[tuple[str, ...], ...]

    def starts(self, folded: str) -> list[int]:
        """Return where the pattern matches; most texts lack a word of it, and compiling costs milliseconds."""
        if not any(all(one in folded for one in group) for group in self.needed):
            return []
        return [match.start() for match in re.compile(self.pattern).finditer(folded)]


@dataclass(frozen=True, slots=True)
class Sought:
    """What a snippet is to show. `first` are places that go before any words, the best first.

    `forms` are those of `query.Line`, the most telling first.
    """

    forms: tuple[str, ...]
    first: tuple[Place, ...] = ()


def sought(rows: Sequence[Sequence[str]], literals: Iterable[str], forms: Iterable[str]) -> Sought:
    """Return what to show: a form of the first group of `rows`, then of the next, then a literal, then words.

    `rows` are groups of forms whose tokens must stand in a row; literals must stand as they are, folded.
    """
    places = [
        Place("|".join(patterns), tuple(tuple(map(_stem, form.split()[:_MOST_TOKENS])) for form in row))
        for row in rows
        for patterns in _row_patterns(row)
        if patterns
    ]
    longest_first = sorted(literals, key=len, reverse=True)
    if longest_first:
        as_written = "|".join(map(_literal, longest_first))
        places.append(Place(as_written, tuple((literal,) for literal in longest_first)))
    return Sought(tuple(forms), tuple(places))


def snippet(text: str, sought: Sought, width: int = MAX_CHARS) -> Snippet:
    """Return at most `width` characters of the text on one line, an ellipsis where it was cut.

    The lines of the text are separated by ` | `. Of the first pattern that is found, the place among the most
    telling words is chosen; without one, the window with the most telling words; the first such. Without any
    match it is the beginning. No cut falls inside a character as a reader sees it.
    """
    whole = unicodedata.normalize("NFC", text)
    best = (len(sought.first) + 2, 0)
    for start in _parts(whole, sought.forms):
        rank, place = _place(_aligned(_part(whole, start)), sought, width)
        best = min(best, (rank, start + place), key=itemgetter(0))
        if rank == 0:
            break
    return Snippet(_window(whole, best[1], width), whole.count("\n", 0, best[1]) + 1)


def _parts(whole: str, forms: tuple[str, ...]) -> list[int]:
    """Return where the parts begin that hold the most of the forms, by the longest word of each."""
    starts = range(0, len(whole) or 1, _PART_CHARS)
    if len(starts) == 1:
        return [0]
    needles = [max(map(_stem, form.split()), key=len) for form in forms]

    def worth(start: int) -> int:
        part = fold(_part(whole, start))
        return sum(_WEIGHT // place for place, needle in enumerate(needles, start=1) if needle in part)

    return sorted(starts, key=worth, reverse=True)[:_PARTS]


def _part(whole: str, start: int) -> str:
    return whole[start : start + _PART_CHARS + _OVER_THE_END]


def _place(folded: str, sought: Sought, width: int) -> tuple[int, int]:
    """Return a place, and which of the patterns it is of: the words come behind the first ones, nothing last."""
    for rank, place in enumerate(sought.first):
        anchors = place.starts(folded)
        if anchors[1:]:
            reach = (_SHOWN_BEFORE, width - _LEAD)
            return rank, _best(folded, anchors, _matches(folded, sought.forms), reach)
        if anchors:
            return rank, anchors[0]
    rank = len(sought.first)
    if found := _matches(folded, sought.forms):
        return rank, _best(folded, [start for start, _ in found], found, (0, width - _LEAD))
    return rank + 1, 0


def _matches(folded: str, forms: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return (start, form's place from 1), by start; inside of words only if nothing stands on its own."""
    for alternatives in (_own, _inside) if forms else ():
        pattern = alternatives(forms)
        found = [(match.start(), match.lastindex or 0) for match in pattern.finditer(folded)]
        if found:
            return found
    return []


@lru_cache(maxsize=64)
def _own(forms: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for whole words, with a group for each form."""
    own = "|".join(f"({_pattern(form)}{_STOPS if form.isdigit() else ''})" for form in forms)
    return re.compile(f"{_STARTS}(?:{own})")


@lru_cache(maxsize=64)
def _inside(forms: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the forms anywhere, with a group for each."""
    return re.compile("|".join(f"({_pattern(form)})" for form in forms))


def _pattern(form: str) -> str:
    """Turn `get user by id` into what also finds `getUserById` and `get_user_by_id`, a word into its stem."""
    if " " not in form:
        return re.escape(_stem(form))
    return f"(?:{_joined(form)}|{_inflected(form)})"


def _row_patterns(forms: Sequence[str]) -> list[list[str]]:
    """Return alternatives for forms as they are, for other endings of their words, and inside of words."""
    exact = [f"{_STARTS}{_joined(form)}{_STOPS}" for form in forms]
    inflected = [f"{_STARTS}{_inflected(form)}{_STOPS}" for form in forms]
    return [exact, inflected, [_joined(form) for form in forms if " " in form]]


def _joined(form: str) -> str:
    """Return a pattern for the tokens in a row, whatever or nothing between them, but never for 15 as 1.5."""
    tokens = form.split()[:_MOST_TOKENS]
    pattern = re.escape(tokens[0])
    for left, right in pairwise(tokens):
        apart = left[-1].isdigit() and right[0].isdigit()
        pattern += (r"[\W_]++" if apart else r"[\W_]*+") + re.escape(right)
    return pattern


def _inflected(form: str) -> str:
    """Return a pattern for the tokens in a row with their endings, so that `queries` finds `query`, too."""
    return r"[\W_]++".join(
        re.escape(_stem(token)) + (r"[^\W\d_]{0,6}+" if token.isascii() and token.isalpha() else "")
        for token in form.split()[:_MOST_TOKENS]
    )


def _stem(token: str) -> str:
    return stem(token).removesuffix("i") if token.isascii() and len(token) > 3 else token


def _literal(literal: str) -> str:
    before = _STARTS if literal[0].isalnum() else ""
    return before + re.escape(literal) + (_STOPS if literal[-1].isalnum() else "")


def _best(folded: str, anchors: list[int], found: list[tuple[int, int]], reach: tuple[int, int]) -> int:
    """Return the anchor with the most worth within reach before and behind it, and on its own line."""
    around = _worths([(anchor - reach[0], anchor + reach[1]) for anchor in anchors], found)
    beside = _worths(_lines(folded, anchors), found)
    totals = [one + other for one, other in zip(around, beside, strict=True)]
    return anchors[totals.index(max(totals))]


def _lines(text: str, places: list[int]) -> list[tuple[int, int]]:
    """Return where the line of each place begins and ends; places ascend."""
    spans: list[tuple[int, int]] = []
    for place in places:
        if not spans or place > spans[-1][1]:
            stop = text.find("\n", place)
            spans.append((text.rfind("\n", 0, place) + 1, stop if stop >= 0 else len(text)))
        else:
            spans.append(spans[-1])
    return spans


def _worths(spans: list[tuple[int, int]], found: list[tuple[int, int]]) -> list[int]:
    """Return the worth of the forms that start within each span; the earlier a form stands, the more."""
    inside: Counter[int] = Counter()
    worths: list[int] = []
    worth = left = right = 0
    for start, stop in spans:
        while right < len(found) and found[right][0] < stop:
            form = found[right][1]
            worth += 0 if inside[form] else _WEIGHT // form
            inside[form] += 1
            right += 1
        while left < right and found[left][0] < start:
            form = found[left][1]
            inside[form] -= 1
            worth -= 0 if inside[form] else _WEIGHT // form
            left += 1
        worths.append(worth)
    return worths


@lru_cache(maxsize=8192)
def _one(character: str) -> str:
    """Fold one character to one character, or keep it."""
    return (fold(character) or character)[0]


def _aligned(text: str) -> str:
    return "\n".join(
        line.lower() if line.isascii() else "".join(map(_one, line)) for line in text.split("\n")
    )


def _window(text: str, middle: int, width: int) -> str:
    """Cut a line of at most `width` characters that holds what starts at `middle`."""
    begin = max(0, middle - 4 * width)
    left = _SPACES.sub(_blank, text[begin:middle].lstrip())
    right = _SPACES.sub(_blank, text[middle : middle + 4 * width].rstrip())
    more_before = begin > 0 and bool(text[:begin].strip())
    more_behind = bool(text[middle + 4 * width :].strip())
    if len(left) + len(right) + more_before + more_behind <= width:
        return ELLIPSIS * more_before + left + right + ELLIPSIS * more_behind
    lead = min(len(left), max(_LEAD, width - 2 - len(right)))
    cut_left = _after(left, len(left) - lead) if lead < len(left) or more_before else 0
    line = left[cut_left:].removeprefix("| ") + right
    head = ELLIPSIS if cut_left or more_before else ""
    room = width - len(head)
    if len(line) <= room and not more_behind:
        return head + line
    stop = _before(line, min(len(line), room - len(ELLIPSIS)))
    return f"{head}{line[:stop].rstrip().removesuffix(' |')}{ELLIPSIS}"


def _blank(spaces: re.Match[str]) -> str:
    return BETWEEN_LINES if len(f"{spaces[0]}.".splitlines()) > 1 else " "


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
