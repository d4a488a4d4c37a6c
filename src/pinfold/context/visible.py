"""Stored text as a reader may see it: what hides or deceives becomes a visible escape; cuts respect graphemes.

`visible` is for text replies only; structured content keeps the exact text. Source: design 2 (common rules), P23.
"""

from __future__ import annotations

import re
import unicodedata

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_BLACK_FLAG, _TAG_END = "\U0001f3f4", "\U000e007f"
_PREPENDED = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u18af\ua840-\ua8ff\ua960-\ua9df\uaa60-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00010aff\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINS = re.compile(f"[{_JOINING}]")
_CARRIES_NEXT = re.compile(f"[{_PREPENDED}]")
_JAMO_LEAD = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_JAMO_TAIL = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")
_TRAILS = re.compile("[\u0e33\u0eb3\u200c\u200d\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAG_TAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f")
_LONGEST_CLUSTER = 128
_VIRAMA = 9


def visible(text: str) -> str:
    r"""Return text with control characters, escapes, bidi controls and zero-width characters spelled out (`\x1b`).

    Line feeds, tabs, CR before LF, joiners that a script or an emoji needs, and everything else stay as they are.
    Applying it twice changes nothing more.
    """
    return _HIDDEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    character = found.group()
    if _belongs(found.string, found.start()):
        return character
    code = ord(character)
    if code < 0x100:
        return {"\r": "\\r"}.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _belongs(text: str, at: int) -> bool:
    """Whether a character that can hide has a plain use where it stands."""
    here, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if here == "\r":
        return after == "\n"
    if here in (_ZWJ, _ZWNJ):
        return _joins(text, at, before, after)
    if _is_selector(here):
        return bool(before) and not before.isspace() and not _HIDDEN.match(before)
    return "\U000e0020" <= here <= _TAG_END and _in_flag(text, at)


def _joins(text: str, at: int, before: str, after: str) -> bool:
    if not before:
        return False
    if _JOINS.match(before):
        ends_cluster = unicodedata.combining(before) == _VIRAMA and not _HIDDEN.match(after)
        return ends_cluster or _JOINS.match(after) is not None
    return text[at] == _ZWJ and _is_pictograph(after) and _is_pictograph(_base_before(text, at))


def _base_before(text: str, at: int) -> str:
    """Return the character that a variation selector or skin tone before `at` modifies, if one stands there."""
    at -= 1
    while at > 0 and (text[at] == "\ufe0f" or "\U0001f3fb" <= text[at] <= "\U0001f3ff"):
        at -= 1
    return text[at]


def _in_flag(text: str, at: int) -> bool:
    start = text.rfind(_BLACK_FLAG, max(0, at - 18), at)
    flag = _FLAG_TAGS.match(text, start) if start >= 0 else None
    return flag is not None and at < flag.end()


def _is_selector(character: str) -> bool:
    return (
        "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
        or "\u180b" <= character <= "\u180d"
    )


def _is_pictograph(character: str) -> bool:
    if not character:
        return False
    return "\U0001f000" <= character <= "\U0001faff" or "\u2190" <= character <= "\u2bff"


def boundary(text: str, at: int) -> int:
    """Return the last place at or before `at` where no grapheme cluster is split.

    Clusters beyond 128 characters are not ones that anybody reads: they are split between characters.
    """
    if at >= len(text):
        return len(text)
    for place in range(at, max(0, at - _LONGEST_CLUSTER), -1):
        if not _glued(text, place):
            return place
    return at if at > _LONGEST_CLUSTER else 0


def _glued(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the cluster of the one before it."""
    before, here = text[at - 1], text[at]
    if here < "\u0300":
        return before == "\r" and here == "\n"
    if before == "\n":
        return False
    if unicodedata.category(here)[0] == "M" or _TRAILS.match(here) or _CARRIES_NEXT.match(before):
        return True
    if before == _ZWJ:
        return _is_pictograph(here) or _follows_virama(text, at - 1, here)
    return _follows_virama(text, at, here) or _pairs_flag(text, at) or _joins_jamo(before, here)


def _follows_virama(text: str, at: int, here: str) -> bool:
    return at > 0 and unicodedata.combining(text[at - 1]) == _VIRAMA and here.isalpha()


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _pairs_flag(text: str, at: int) -> bool:
    """Whether a regional indicator completes a pair: an odd number of them stands before it."""
    if not _is_regional(text[at]):
        return False
    first = at
    while first > 0 and at - first < _LONGEST_CLUSTER and _is_regional(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _joins_jamo(before: str, here: str) -> bool:
    if _JAMO_LEAD.match(before):
        return bool(_JAMO_LEAD.match(here) or _JAMO_TAIL.match(here)) or "\uac00" <= here <= "\ud7a3"
    return bool(_JAMO_TAIL.match(here)) and ("\uac00" <= before <= "\ud7a3" or bool(_JAMO_TAIL.match(before)))


def clip(text: str, max_chars: int) -> str:
    """Return the beginning of a text: at most `max_chars` characters, no grapheme cluster split."""
    return text[: boundary(text, max_chars)]


def clip_front(text: str, max_chars: int) -> str:
    """Return the end of a text: at most `max_chars` characters, no grapheme cluster split."""
    start = max(0, len(text) - max_chars)
    first = boundary(text, start)
    while first < start and start < len(text) and _glued(text, start):
        start += 1
    return text[start:]


def shorten(text: str, max_chars: int) -> str:
    """Return text on one line of at most `max_chars` characters, with `…` where something was cut off."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else clip(line, max_chars - 1).rstrip() + "…"


def size_text(size_bytes: int) -> str:
    """Return a size for a reader, in decimal units: `512 bytes`, `86 KB`, `1.4 MB`."""
    if size_bytes < 1_000:
        return f"{size_bytes} byte{'' if size_bytes == 1 else 's'}"
    scaled, unit = (size_bytes / 1_000, "KB") if size_bytes < 999_500 else (size_bytes / 1_000_000, "MB")
    return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:,.0f} {unit}"


def legible(text: str) -> str:
    """Return a text that can be written: lone surrogates, as broken JSON leaves them, become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def money(dollars: float) -> str:
    """Return dollars to the cent, and less than one to its hundredth, so that little is not nothing."""
    return f"{dollars:.4f}" if 0 < dollars < 0.01 else f"{dollars:.2f}"


def counted(number: int, word: str, plural: str = "") -> str:
    """Return e.g. `1 line`, `1,763 lines`."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"
