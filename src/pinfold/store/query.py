"""What a searcher wrote, taken apart: lines, phrases and words; and the cursor that continues a page.

Nothing in a query is an error but the lack of anything to look for: only double quotes and line ends mean
something. Source: design 2, search_history; P32.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from pinfold.store.errors import InvalidInputError
from pinfold.store.words import STOP_WORDS, bigrams, fold, identifier_parts, is_run, tokens

MAX_LINES = 8
MAX_WORDS = 64
MAX_CHARS = 10_000

_QUOTED = re.compile('"([^"\n]*)"|“([^”\n]*)”')
_WORD = re.compile(r"[^\W_]")
_ALNUM = re.compile("[A-Za-z0-9]+")
_UNIT = re.compile(r"[^\s/\\:,;|=()\[\]{}<>@#&?!+*~^%$`]+")


@dataclass(frozen=True, slots=True)
class Term:
    """One word to look for, in any of its `forms`: index tokens with blanks between, to stand in a row."""

    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """One word as written, such as `foo_1500`: its `terms` (by index), and the `forms` that are all of it."""

    forms: tuple[str, ...]
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One phrasing. `whole` is all of it as one form; `phrases` must be there, `terms` should.

    `units` say which terms make up a word that only counts as held with all of it, in a row.
    `hints` are forms that count in ranking only: pieces of identifiers. `neighbours` are pairs of `terms` (by
    index) with the form in which they stand side by side in the line, and `literals` the folded words that
    hold more than letters and digits, such as `c++`. `pieces` are the folded words as written, for a search
    inside of words.
    """

    whole: str
    phrases: tuple[str, ...]
    terms: tuple[Term, ...]
    hints: tuple[str, ...]
    neighbours: tuple[tuple[int, int, str], ...]
    literals: tuple[str, ...]
    pieces: tuple[str, ...]
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """One to `MAX_LINES` phrasings of the same question; together at most `MAX_WORDS` terms each."""

    lines: tuple[Line, ...]

    @property
    def has_phrases(self) -> bool:
        """Whether any part stands in quotes."""
        return any(line.phrases for line in self.lines)

    def unquoted(self) -> Query:
        """Return the same words without what must be there as a phrase."""
        return Query(tuple(dict.fromkeys(replace(line, phrases=()) for line in self.lines)))


def has_word(text: str) -> bool:
    """Whether there is a letter, a digit or a pictograph to look for, in any script."""
    return bool(tokens(text))


def parse(text: str) -> Query:
    """Take a query apart; lone surrogates, NUL and whatever is over the limits are dropped.

    Raises `InvalidInputError` when no line holds a letter, a digit or a pictograph.
    """
    clean = first_part(text).encode("utf-8", "ignore").decode("utf-8").replace("\0", " ")
    lines = [_line(line) for line in clean.splitlines() if has_word(line)][:MAX_LINES]
    if not lines and (mark := next(filter(str.isalnum, clean), None)):
        return Query((_found_nowhere(mark),))
    if not lines:
        raise InvalidInputError(
            "The query has no letter and no digit.", "Search for at least one word, number or name."
        )
    return Query(tuple(dict.fromkeys(lines)))


def _found_nowhere(mark: str) -> Line:
    """Return the line for a letter that is none beside others, such as an Arabic vowel sign standing alone."""
    return Line(mark, (), (Term((mark,)),), (), (), (), (mark,), (Unit((mark,), (0,)),))


def first_part(text: str) -> str:
    """Return the first `MAX_CHARS` characters, or those from the first word on where it comes later."""
    word = _WORD.search(text)
    start = word.start() if word and word.start() >= MAX_CHARS else 0
    return text[start : start + MAX_CHARS]


def _line(text: str) -> Line:
    phrases = [a or b for a, b in _QUOTED.findall(text)]
    words = re.sub('["“”]', " ", text).split()
    chain = _chain(words)
    terms = list(dict.fromkeys(term for term, _, _ in chain))[:MAX_WORDS]
    return Line(
        whole=_form(tokens(text)),
        phrases=tuple(dict.fromkeys(_form(tokens(phrase)) for phrase in phrases if has_word(phrase))),
        terms=tuple(terms),
        hints=tuple(_hints(words, terms)),
        neighbours=tuple(_neighbours(text, chain, terms)),
        literals=tuple(dict.fromkeys(_literals(words))),
        pieces=tuple(dict.fromkeys(fold(word) for word in words))[:MAX_WORDS],
        units=tuple(dict.fromkeys(_units(words, terms))),
    )


def _form(found: Iterable[str]) -> str:
    return " ".join(" ".join(token) if is_run(token) else token for token in found)


def _chain(words: list[str]) -> list[tuple[Term, int, int]]:
    """Return the terms with the places of their first and last token; stop words if nothing else is left."""
    everything = list(_terms(words))
    telling = [found for found in everything if found[0].forms[0] not in STOP_WORDS]
    return telling or everything


def _terms(words: list[str]) -> Iterator[tuple[Term, int, int]]:
    place = 0
    for word in words:
        splits = _splits(word)
        for token in tokens(word):
            if is_run(token):
                for i, pair in enumerate(bigrams(token)):
                    yield Term((pair,)), place + i, place + i + len(pair) - 1
                place += len(token)
                continue
            yield Term((token, splits[token]) if token in splits else (token,)), place, place
            place += 1


def _units(words: list[str], terms: list[Term]) -> Iterator[Unit]:
    """Yield the words that stand between blanks and signs, with the terms they consist of."""
    numbers = {term.forms[0]: i for i, term in enumerate(terms)}
    for written in (unit for word in words for unit in _UNIT.findall(word)):
        found = [term for term, _, _ in _terms([written])]
        if any(is_run(token) for token in tokens(written)):
            yield from (Unit(term.forms, (own,)) for term, own in _numbered(found, numbers))
        elif own := [number for _, number in _numbered(found, numbers)]:
            forms = (" ".join(term.forms[place] for term in found) for place in (0, -1))
            yield Unit(tuple(dict.fromkeys(forms)), tuple(own))


def _numbered(found: list[Term], numbers: dict[str, int]) -> list[tuple[Term, int]]:
    return [(term, numbers[term.forms[0]]) for term in found if term.forms[0] in numbers]


def _splits(word: str) -> dict[str, str]:
    """Return for each folded identifier in a word, such as `getuserbyid`, its pieces as one form."""
    found = {part.lower(): " ".join(identifier_parts(part)[:-1]) for part in _ALNUM.findall(word)}
    return {part: pieces for part, pieces in found.items() if pieces}


def _hints(words: list[str], terms: list[Term]) -> Iterator[str]:
    """Yield the pieces of identifiers that are no terms themselves."""
    known = {term.forms[0] for term in terms}
    pieces = (piece for word in words for form in _splits(word).values() for piece in form.split())
    for piece in dict.fromkeys(pieces):
        if len(piece) > 1 and piece not in STOP_WORDS and piece not in known:
            yield piece


def _neighbours(
    text: str, chain: list[tuple[Term, int, int]], terms: list[Term]
) -> Iterator[tuple[int, int, str]]:
    row = _form(tokens(text)).split()
    numbers = {term: i for i, term in enumerate(terms)}
    for (left, start, _), (right, _, stop) in pairwise(chain):
        if left != right and left in numbers and right in numbers:
            yield numbers[left], numbers[right], " ".join(row[start : stop + 1])


def _literals(words: list[str]) -> Iterator[str]:
    for word in words:
        bare = fold(word).strip(",;!?()[]{}\"'“”‘’`…").rstrip(".:")
        if bare and not bare.isalnum() and has_word(bare):
            yield bare


# --- cursors ---


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page stopped: entries up to id `newest` count, those in `shown` were seen.

    Both hold however many entries others add, so that paging shows each thing once (P7).
    """

    newest: int
    shown: frozenset[int]


def digest_of_query(*asked: object) -> bytes:
    """Return four bytes that tell one query (its text and filters) from another."""
    return hashlib.sha256(repr(asked).encode("utf-8", "backslashreplace")).digest()[:4]


def write_cursor(cursor: Cursor, digest: bytes) -> str:
    """Return the cursor as an opaque word, bound to the query by its digest."""
    numbers = [cursor.newest]
    before = 0
    for entry in sorted(cursor.shown):
        numbers.append(entry - before)
        before = entry
    packed = digest + b"".join(_varint(number) for number in numbers)
    check = hashlib.sha256(packed).digest()[:2]
    return base64.urlsafe_b64encode(packed + check).decode().rstrip("=")


def read_cursor(text: str, digest: bytes) -> Cursor:
    """Read a cursor back; raises `InvalidInputError` when it is none of ours or belongs to another query."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        packed = b""
    content, check = packed[:-2], packed[-2:]
    if len(content) < 5 or hashlib.sha256(content).digest()[:2] != check or content[-1] & 0x80:
        raise InvalidInputError("The cursor is not one that search_history gave.", _CURSOR_FORM)
    if content[:4] != digest:
        raise InvalidInputError("The cursor belongs to another query.", _CURSOR_FORM)
    newest, *steps = _varints(content[4:])
    shown, last = set(), 0
    for step in steps:
        last += step
        shown.add(last)
    return Cursor(newest, frozenset(shown))


_CURSOR_FORM = (
    "Pass the `cursor` of the previous reply with the same query and filters, or none for the first page."
)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _varints(packed: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            yield number
            number = shift = 0
