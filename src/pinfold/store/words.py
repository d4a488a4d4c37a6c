"""Words as search sees them: folded, cut where scripts and identifiers cut, the same when written and when
asked.

The index holds two texts per entry: `body(text)`, its words in order, and `parts(text)`, what stands inside
them. Both are pure and take time linear in the text. A change of either makes old index rows wrong: rebuild
the index with it. Source: design 2, search_history.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

_MAX_IDENTIFIER = 64
_MIN_HEX = 7
_REMEMBERED = 1 << 15
"""How many short words' forms are kept: a history says the same ones over and over."""

_LONG_TEXT = 4_000

_ACCENTS = (
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u00ad\u180b-\u180d\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]+"
)
"""Marks over letters, points of Hebrew and Arabic, and characters without width."""

_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Myanmar, Khmer, kana, Han, Yi; Hangul too, whose particles stick to the words."""

_MARKS = (
    "\u0900-\u0963\u0971-\u0df3\u0f18-\u0f39\u0f71-\u0fbc\u135d-\u135f\u1712-\u1734\u18a9\u1920-\u193b\u1a17-\u1a7f"
    "\u1b00-\u1b44\u1b80-\u1bad\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cf9\ua802-\ua827\ua880-\ua8f1\ua926-\ua953"
    "\ua980-\ua9c0\uaa29-\uaa4d\uaaeb-\uaaf6\uabe3-\uabed\U00011000-\U00011fff"
)
_SYMBOLS = (
    "\u00a6\u00a9\u00ae\u00b0\u2100-\u214f\u2195-\u21ff\u2300-\u23ff\u249c-\u24e9\u2500-\u27bf\u2b00-\u2bff"
    "\ue000-\uf8ff\U0001f000-\U0001faff"
)
_LETTER = rf"(?:[a-z0-9]+|(?![{_UNSPACED}_])\w)"
_TOKEN = rf"[{_UNSPACED}]+|{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*|[{_SYMBOLS}]"
_ASCII_WORD = r"[a-z0-9]+"
_RUN = f"[{_UNSPACED}]+"
_MAY_HOLD_RUN = "[\u0e01-\u1fff\u3005-\uffef\U00020000-\U0003ffff]"
_PIECE = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_HEX = rf"(?:0[xX])?([0-9a-fA-F]{{{_MIN_HEX},}})"
_COMPOUND = r"(?a:\b[A-Z]?+[a-z]*+[A-Z0-9_]\w*+)"
"""An identifier that may have parts: all but `plain` and `Plain`."""

SEPARATORS = "→—–…’‘“”•·\u00a0"
"""The commonest characters outside of ASCII that are part of no word: without them most lines are plain."""

_STOP = """
    a about all also am an and any are as at be been being but by can could did do does doing done for
    from get gets got had has have having he her here hers him his how i if in into is it its just let
    like ll may me might more most my no nor not now of on only or other our ours out over own please re s
    same shall she should so some such t than that the their theirs them then there these they this those
    to too up upon us ve very was we were what when where which while who whom whose why will with would
    yes you your yours
"""
STOP_WORDS = frozenset(_STOP.split())
"""Words that say nothing about what is looked for; dropped from a query unless nothing else is left."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at the first use: the tables of scripts take 10 ms, and most texts are ASCII."""
    return re.compile(pattern)


def fold(text: str) -> str:
    """Return the text without case, accents, width variants, invisible characters and lone surrogates."""
    if text.isascii():
        return text.lower()
    clean = text.encode("utf-8", "ignore").decode("utf-8")
    opened = unicodedata.normalize("NFKD", clean).casefold()
    return unicodedata.normalize("NFC", _compiled(_ACCENTS).sub("", opened))


def tokens(text: str) -> list[str]:
    """Return the words in order. Scripts written without spaces come as whole runs, a symbol stands alone."""
    folded = fold(text)
    return _compiled(_ASCII_WORD if folded.isascii() else _TOKEN).findall(folded)


def is_run(token: str) -> bool:
    """Whether a token is a run of a script written without spaces."""
    return not token.isascii() and _compiled(_RUN).match(token) is not None


def bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of a run's characters, or the run itself if it is a single one."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def body(text: str) -> str:
    """Return what the index's first column holds: the words in order, unspaced runs character by character.

    So a phrase in this column is a phrase of the text, in any script.
    """
    plain = _plain(text)
    if plain.isascii():
        return plain
    # Nothing reaches across a line end or a blank, so what is ASCII can stay as it is.
    return "\n".join(line if line.isascii() else _cut_line(line) for line in plain.split("\n"))


def _plain(text: str) -> str:
    for mark in ("\0",) if text.isascii() else ("\0", *SEPARATORS):
        text = text.replace(mark, " ")
    return text


def _cut_line(line: str) -> str:
    return " ".join(word.lower() if word.isascii() else _known_cut(word) for word in line.split())


def _cut(word: str) -> str:
    return " ".join(" ".join(token) if is_run(token) else token for token in tokens(word))


_remembered_cut = lru_cache(_REMEMBERED)(_cut)


def _known_cut(word: str) -> str:
    return _remembered_cut(word) if len(word) <= _MAX_IDENTIFIER else _cut(word)


def parts(text: str) -> str:
    """Return what the index's second column holds: pieces and joined forms of identifiers, pairs of unspaced
    runs.

    `getUserById` and `get_user_by_id` both give `get user by id getuserbyid`; a hex run is not cut.
    """
    plain = _plain(text)
    words = dict.fromkeys(_compiled(_COMPOUND).findall(plain))
    form = _known_form if max(map(len, words), default=0) <= _MAX_IDENTIFIER else _form
    found = list(map(form, words))
    if not plain.isascii() and _compiled(_MAY_HOLD_RUN).search(plain):
        for run in dict.fromkeys(_compiled(_RUN).findall(fold(plain))):
            found += bigrams(run)
    return " ".join(filter(None, found))


def _form(word: str) -> str:
    return " ".join(identifier_parts(word))


_known_form = lru_cache(_REMEMBERED)(_form)


def identifier_parts(word: str) -> list[str]:
    """Return an identifier's pieces and, last, its joined form; empty for a plain word."""
    if word.isalpha() and (word.islower() or word[1:].islower() or word.isupper()):
        return []
    whole_hex = _compiled(_HEX).fullmatch(word)
    if whole_hex:
        digits = whole_hex[1].lower()
        return [digits] if len(digits) < len(word) else []
    pieces = _compiled(_PIECE).findall(word) if len(word) <= _MAX_IDENTIFIER else []
    if len(pieces) < 2:
        return []
    # The joined form between two identifiers keeps a phrase from running from one into the next.
    lowered = [piece.lower() for piece in pieces]
    return [*lowered, "".join(lowered)]


def stem(word: str) -> str:
    """Return a word without its commonest English ending; rougher than the index's own stemmer."""
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    for ending, kept in (("ies", "i"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("y", "i"), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + kept
    return word


_known_stem = lru_cache(_REMEMBERED)(stem)


def _units(text: str) -> Iterator[str]:
    for token in tokens(text):
        if is_run(token):
            yield from bigrams(token)
        elif token not in STOP_WORDS:
            yield _known_stem(token) if len(token) <= _MAX_IDENTIFIER else stem(token)


def folded_words(text: str) -> frozenset[str]:
    """Return the content words: folded, stemmed, without stop words; unspaced runs as pairs of characters.

    Remembered, since each new pin is compared with every live one while the log is locked; but not of long texts,
    which would be held as long as the process lives.
    """
    return _remembered_words(text) if len(text) <= _LONG_TEXT else _words(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(_units(text)) or frozenset(tokens(text))


_remembered_words = lru_cache(maxsize=4096)(_words)


def share_of(left: frozenset[str], right: frozenset[str]) -> float:
    """Return how much two sets of words share, 0 to 1: twice the common words over all words of both."""
    total = len(left) + len(right)
    return 2 * len(left & right) / total if total else 0.0
