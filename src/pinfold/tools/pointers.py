"""The grammar of pointers: `P7`, `A12#L10-40`, `A12#B0-4095`, `brief@4812`, `pins`.

Lower case, brackets, backticks, quotes, spaces and a `pinfold://` in front are forgiven, since models and
people copy pointers out of prose. Source: design 2, fetch_pointer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal, get_args

from pinfold.store.errors import InvalidInputError
from pinfold.store.values import Pointer, PointerKind

SHAPES = "A pointer looks like P7, A12, A12#L10-40, A12#B0-4095, C3, H142, F2, S9, brief, brief@4812 or pins."
_QUOTED_CHARS = 40
_MAX_DIGITS = 15
_HUGE = 10**15
_WRAPPING = " \t\r\n`'\"[](){}<>*.,;"

_POINTER = re.compile(r"([PACHFS])0*(\d{1,15})", re.ASCII | re.IGNORECASE)
_LINES = re.compile(r"(\d{1,15})(?:\s*(-|:|\.\.)\s*(\d{1,15})?)?|-\s*(\d{1,15})", re.ASCII)
_BYTES = re.compile(r"(\d{1,15})(?:-(\d{1,15})?)?", re.ASCII)

ListingName = Literal["pins", "artifacts", "checkpoints", "folds", "misses"]
LISTINGS: tuple[ListingName, ...] = get_args(ListingName)


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines `first` to `last` (from 1, both included; None: to the end), or with `tail` the last so many."""

    first: int = 1
    last: int | None = None
    tail: int | None = None

    def __str__(self) -> str:
        """Return the spelling that is accepted back, e.g. `10-40`."""
        if self.tail is not None:
            return f"-{self.tail}"
        if self.last is None:
            return f"{self.first}-"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `first` to `last` (from 0, both included; None: to the end), always given as base64."""

    first: int
    last: int | None = None

    def __str__(self) -> str:
        """Return the spelling that is accepted back, e.g. `0-4095`."""
        return f"{self.first}-{'' if self.last is None else self.last}"


@dataclass(frozen=True, slots=True)
class Place:
    """A pointer, and the part of what it leads to that is asked for (None: all of it)."""

    pointer: Pointer
    part: LineRange | ByteRange | None = None

    def __str__(self) -> str:
        """Return the canonical spelling, e.g. `A12#L10-40`."""
        mark = "#B" if isinstance(self.part, ByteRange) else "#L"
        return str(self.pointer) if self.part is None else f"{self.pointer}{mark}{self.part}"


@dataclass(frozen=True, slots=True)
class BriefAt:
    """The brief, now or as of a seq."""

    as_of: int | None = None

    def __str__(self) -> str:
        """Return the canonical spelling, e.g. `brief@4812`."""
        return "brief" if self.as_of is None else f"brief@{self.as_of}"


@dataclass(frozen=True, slots=True)
class Listing:
    """One of the listings."""

    name: ListingName

    def __str__(self) -> str:
        """Return its name."""
        return self.name


Target = Place | BriefAt | Listing


def quote(value: object, mark: str = '"') -> str:
    """Return a short, harmless spelling of a caller's value for an error message: never long, pure ASCII."""
    if isinstance(value, int) and abs(value) >= _HUGE:
        return "a huge number"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str):
        return "an object" if isinstance(value, dict) else "a list"
    short = value if len(value) <= _QUOTED_CHARS else value[: _QUOTED_CHARS - 3] + "..."
    escaped = json.dumps(short)[1:-1]
    return f"{mark}{escaped}{mark}"


def parse(text: object) -> Target:
    """Return what a spelling points to; raises `InvalidInputError` that shows what a pointer looks like."""
    if not isinstance(text, str):
        raise InvalidInputError(f"A pointer cannot be {quote(text)}.", SHAPES)
    bare = _bare(text)
    name, _, part = bare.partition("#")
    word, _, seq = name.lower().partition("@")
    if word == "brief" and not part:
        return BriefAt(_seq(seq, text) if "@" in name else None)
    for listing in LISTINGS:
        if bare.lower() == listing:
            return Listing(listing)
    found = _POINTER.fullmatch(name.strip())
    if not found:
        raise InvalidInputError(f"{quote(text)} is no pointer.", SHAPES)
    pointer = _pointer(found)
    return Place(pointer, _part(part, text) if "#" in bare else None)


def parse_pointer(text: object, kind: PointerKind, argument: str) -> Pointer:
    """Return a pointer of the given kind; raises `InvalidInputError` that shows one."""
    found = _POINTER.fullmatch(_bare(text)) if isinstance(text, str) else None
    pointer = _pointer(found) if found else None
    if pointer is None or pointer.kind is not kind:
        raise InvalidInputError(
            f"{argument} cannot be {quote(text)}.", f"Give a pointer such as {kind.value}7."
        )
    return pointer


def parse_lines(text: object) -> LineRange:
    """Return a range of lines from `10-40`, `10-`, `10` or `-50`; raises `InvalidInputError`."""
    spelled = str(text) if isinstance(text, int) and not isinstance(text, bool) else text
    bare = spelled.strip(_WRAPPING).lstrip("Ll") if isinstance(spelled, str) else ""
    found = _LINES.fullmatch(bare)
    if not found:
        raise _no_lines(text)
    first, dash, last, tail = found.groups()
    if tail is not None:
        lines = LineRange(tail=int(tail))
    else:
        lines = LineRange(int(first), int(last) if last else None if dash else int(first))
    if lines.first < 1 or lines.tail == 0 or (lines.last is not None and lines.last < lines.first):
        raise _no_lines(text)
    return lines


def _bare(text: str) -> str:
    bare = text.strip(_WRAPPING)
    if bare.lower().startswith("pinfold://"):
        bare = bare[len("pinfold://") :]
    return bare.strip("/")


def _pointer(found: re.Match[str]) -> Pointer:
    return Pointer(PointerKind(found[1].upper()), int(found[2]))


def _seq(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS and int(digits)):
        raise InvalidInputError(f"{quote(text)} names no moment.", "Give a seq, as in brief@4812.")
    return int(digits)


def _part(part: str, text: str) -> LineRange | ByteRange:
    letter, rest = part[:1].upper(), part[1:]
    if letter == "L":
        return parse_lines(rest.replace("L", "").replace("l", ""))
    found = _BYTES.fullmatch(rest) if letter == "B" else None
    if found and (not found[2] or int(found[2]) >= int(found[1])):
        last = found[2] if "-" in rest else found[1]
        return ByteRange(int(found[1]), int(last) if last else None)
    raise InvalidInputError(f"{quote(text)} has no range that can be read.", SHAPES)


def _no_lines(text: object) -> InvalidInputError:
    accepted = 'Give "10-40", "10-" (to the end), "10" or "-50" (the last 50); lines count from 1.'
    return InvalidInputError(f"{quote(text)} is no range of lines.", accepted)
