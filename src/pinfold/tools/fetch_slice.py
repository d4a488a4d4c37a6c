"""A slice of readable bytes: lines, or bytes as base64, cut where characters end and continued exactly.

The pages of one body, joined, are the body byte for byte. The cost does not grow with the body.
Source: design 2, P9.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinfold.context.visible import clip, counted, visible
from pinfold.store.errors import NotFoundError
from pinfold.tools.ask import Ask
from pinfold.tools.body import Body, Piece
from pinfold.tools.fit import fitting_async
from pinfold.tools.pointers import ByteRange, LineRange
from pinfold.tools.render import NOTE, fenced, lean, lines
from pinfold.tools.tool import Reply

_LOOKAHEAD_CHARS = 64
_LOOKAHEAD_BYTES = 4 * _LOOKAHEAD_CHARS
_LOSSY = "bytes that are no UTF-8 are shown as \\xNN; the exact bytes: "


@dataclass(frozen=True, slots=True)
class Subject:
    """What a slice is of: its pointer, words for the first line, and facts for the structured side.

    `is_derived`: it is made from what the pointer leads to, so its lines have no pointers.
    """

    pointer: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_derived: bool = False


async def slice_of(body: Body, ask: Ask, subject: Subject) -> Reply:
    """Return the next page of what is asked of a body. Raises `NotFoundError` for a range behind its end."""
    if body.is_binary or isinstance(ask.part, ByteRange):
        return await _base64_page(body, ask, subject)
    return await _text_page(body, ask, subject)


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece that is about as large as a page may be, and whether the wanted range ends with it."""

    piece: Piece
    ends: bool


async def _text_page(body: Body, ask: Ask, subject: Subject) -> Reply:
    wanted = wanted_lines(body, ask.part, subject.pointer)
    window = await _window(body, ask, wanted)
    text = window.piece.content.decode("utf-8", "surrogateescape")
    most = len(text) if window.ends else len(text) - _LOOKAHEAD_CHARS
    keep = await fitting_async(most, lambda size: _both(text[:size]), ask.room)
    if keep < len(text):
        keep = _tidy(text, keep)
    content = text[:keep].encode("utf-8", "surrogateescape")
    shown = Piece(content, window.piece.start, window.piece.first_line)
    return _text_reply(body, ask, subject, _Page(shown, wanted, keep == len(text)))


def wanted_lines(body: Body, part: LineRange | ByteRange | None, pointer: str) -> tuple[int, int] | None:
    """Return the first and the last line of a part, None where it is none of lines; raises `NotFoundError`."""
    if not isinstance(part, LineRange):
        return None
    count = body.line_count
    first = max(1, count - part.tail + 1) if part.tail is not None else part.first
    if first > count:
        raise NotFoundError(f"{pointer}#L{part}", "out of range", f"{pointer} has {counted(count, 'line')}.")
    return first, min(part.last or count, count)


async def _window(body: Body, ask: Ask, wanted: tuple[int, int] | None) -> _Window:
    size = ask.room.chars + _LOOKAHEAD_BYTES
    if ask.at is not None:
        piece = await body.read(ask.at, size)
    elif wanted is not None:
        piece = await body.read_lines(*wanted, size)
    else:
        piece = await body.read(0, size)
    if wanted is not None:
        lines_left = wanted[1] - piece.first_line + 1
        if piece.content.count(b"\n") >= lines_left:
            kept = b"\n".join(piece.content.split(b"\n", lines_left)[:lines_left]) + b"\n"
            return _Window(Piece(kept, piece.start, piece.first_line), ends=True)
    return _Window(piece, piece.stop >= body.size_bytes)


def _legible(text: str) -> str:
    """Return the text with undecoded bytes, which `surrogateescape` left as surrogates, as `\\xNN`."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _both(text: str) -> tuple[str, str]:
    """Return the text as either side of a reply carries it."""
    legible = _legible(text)
    return visible(legible), json.dumps(legible, ensure_ascii=False)


def _tidy(text: str, keep: int) -> int:
    """Return a cut at or before `keep`: behind a line end where one is near, else between graphemes."""
    newline = text.rfind("\n", keep // 2, keep) + 1
    return newline or len(clip(text, keep)) or max(1, keep)


@dataclass(frozen=True, slots=True)
class _Page:
    """What one reply shows of a body; `wanted` are the lines asked for, if any were."""

    shown: Piece
    wanted: tuple[int, int] | None
    is_last: bool

    @property
    def next_line(self) -> int:
        """The line on which the next page begins."""
        return self.shown.first_line + self.shown.content.count(b"\n")

    @property
    def last_line(self) -> int:
        """The last line of which something is shown."""
        return max(self.shown.first_line, self.next_line - self.shown.content.endswith(b"\n"))


def _text_reply(body: Body, ask: Ask, subject: Subject, page: _Page) -> Reply:
    shown = page.shown
    text = _legible(shown.content.decode("utf-8", "surrogateescape"))
    exact = f"{subject.pointer}#B{shown.start}-{max(shown.start, shown.stop - 1)}"
    lossy = None if body.is_exact or "\\x" not in text else _LOSSY + exact
    left = None if page.is_last else _left(body, page)
    facts = lean(
        {
            "pointer": subject.pointer,
            **subject.facts,
            "lines": [shown.first_line, page.last_line] if shown.content else None,
            "bytes": _inclusive(shown.start, shown.stop),
            "of": {"lines": body.line_count, "bytes": body.size_bytes},
            "left": left,
            "next": None if page.is_last else ask.next_cursor(shown.stop),
            "lossy": lossy,
            "note": NOTE,
        }
    )
    head = f"{_span(body, subject, page)}{subject.title and f': {subject.title}'}"
    tail = f"{_spelled(left)} left; next: {ask.next_call(shown.stop)}" if left else None
    shown_text = fenced(ask.desk.store, text) if text else None
    return Reply(lines([head, shown_text, lossy, tail]), facts | {"text": text})


def _span(body: Body, subject: Subject, page: _Page) -> str:
    shown = page.shown
    if not shown.content:
        return f"{subject.pointer} 0 bytes"
    span = LineRange(shown.first_line, page.last_line)
    place = f"{span} of {counted(body.line_count, 'line')}"
    mark = "#L"
    if subject.is_derived:
        mark = " line " if span.first == span.last else " lines "
    return f"{subject.pointer}{mark}{place}, bytes {shown.start}-{shown.stop - 1} of {body.size_bytes:,}"


def _inclusive(start: int, stop: int) -> list[int]:
    """Return the first and the last byte, as `#B` counts them; nothing for no bytes."""
    return [start, stop - 1] if stop > start else []


def _left(body: Body, page: _Page) -> dict[str, int]:
    last = page.wanted[1] if page.wanted else body.line_count
    left = {"lines": last - page.next_line + 1}
    return left if last < body.line_count else left | {"bytes": body.size_bytes - page.shown.stop}


def _spelled(left: Mapping[str, int]) -> str:
    return ", ".join(counted(number, unit.removesuffix("s")) for unit, number in left.items())


async def _base64_page(body: Body, ask: Ask, subject: Subject) -> Reply:
    first, stop = wanted_bytes(body, ask.part, subject.pointer)
    start = first if ask.at is None else ask.at
    piece = await body.read(start, min(stop - start, ask.room.chars * 3 // 4))
    keep = await fitting_async(len(piece.content), lambda size: (_base64(piece.content[:size]),), ask.room)
    if start + keep < stop:
        keep -= keep % 3
    encoded, end = _base64(piece.content[:keep]), start + keep
    facts = lean(
        {
            "pointer": subject.pointer,
            **subject.facts,
            "bytes": _inclusive(start, end),
            "of": {"bytes": body.size_bytes},
            "left": {"bytes": stop - end} if end < stop else None,
            "next": ask.next_cursor(end) if end < stop else None,
            "note": NOTE,
        }
    )
    span = f"{subject.pointer}#B{start}-{max(start, end - 1)} of {counted(body.size_bytes, 'byte')}, base64"
    tail = f"{counted(stop - end, 'byte')} left; next: {ask.next_call(end)}" if end < stop else None
    head = f"{span}{subject.title and f': {subject.title}'}"
    return Reply(lines([head, fenced(ask.desk.store, encoded), tail]), facts | {"base64": encoded})


def wanted_bytes(body: Body, part: LineRange | ByteRange | None, pointer: str) -> tuple[int, int]:
    """Return where a part of bytes begins and where it stops (all of it by default); raises `NotFoundError`."""
    if not isinstance(part, ByteRange):
        return 0, body.size_bytes
    if part.first >= body.size_bytes:
        size = counted(body.size_bytes, "byte")
        raise NotFoundError(f"{pointer}#B{part}", "out of range", f"{pointer} has {size}, counted from 0.")
    return part.first, body.size_bytes if part.last is None else min(part.last + 1, body.size_bytes)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
