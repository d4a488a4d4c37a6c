"""A part of a long text: never more than a screen or two at once, whatever its lines are like."""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.server.ui.looking import Look
from pinfold.store.errors import NotFoundError
from pinfold.tools.body import Body

SLICE_LINES = 200
SLICE_BYTES = 64 * 1024
_HEX_BYTES = 1024
_HEX_ROW = 16
_LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Slice:
    """Lines of a body from `first_line` on, its bytes `start` to `stop` of `total`.

    `earlier` and `later` are what the address of the part before and behind it says; None where there is none.
    `begins_within` and `ends_within`: its first, its last line is cut.
    """

    lines: tuple[str, ...]
    first_line: int
    start: int
    stop: int
    total: int
    earlier: str | None
    later: str | None
    begins_within: bool = False
    ends_within: bool = False

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self.start == 0 and self.stop == self.total


async def slice_of(body: Body, look: Look, name: str) -> Slice:
    """Return the part that a look asks for with `line` (from 1) or `byte`, else the first.

    Raises `NotFoundError`, in which the body is called `name`, for what lies behind its end.
    """
    start = await _start(body, look, name)
    piece = await body.read(start, SLICE_BYTES)
    is_end = piece.stop >= body.size_bytes
    content = _whole_lines(piece.content, is_end=is_end)
    stop = start + len(content)
    before = (await body.read(start - 1, 1)).content if start else b"\n"
    begins_within = before != b"\n"
    return Slice(
        lines=tuple(_lines(content)),
        first_line=piece.first_line,
        start=start,
        stop=stop,
        total=body.size_bytes,
        earlier=_earlier(piece.first_line, start, begins_within=begins_within),
        later=f"byte={stop}" if stop < body.size_bytes else None,
        begins_within=begins_within,
        ends_within=stop < body.size_bytes and not content.endswith(b"\n"),
    )


async def _start(body: Body, look: Look, name: str) -> int:
    line, byte = look.whole("line"), look.whole("byte")
    if line is not None and line > max(1, body.line_count):
        raise NotFoundError(
            f"{name}, line {line}", f"it has {body.line_count:,} lines", "Go back to its first."
        )
    if byte is not None and byte > body.size_bytes:
        raise NotFoundError(
            f"{name}, byte {byte}", f"it has {body.size_bytes:,} bytes", "Go back to its first."
        )
    if not line or line == 1 or byte is not None:
        return byte or 0
    return (await body.read_lines(line, line, 1)).start


def _whole_lines(content: bytes, *, is_end: bool) -> bytes:
    """Cut a piece behind its last line end, or behind the last line that a page shows; a longer line anywhere."""
    lines = content.split(b"\n", SLICE_LINES)
    if len(lines) > SLICE_LINES:
        return content[: len(content) - len(lines[-1])]
    if is_end:
        return content
    behind = content.rfind(b"\n") + 1
    return content[:behind] if behind else _whole_characters(content)


def _whole_characters(content: bytes) -> bytes:
    """Leave out a UTF-8 character that is cut at the end."""
    for size in range(1, min(_LONGEST_CHARACTER, len(content)) + 1):
        lead = content[-size]
        if lead & 0xC0 != 0x80:  # not a byte inside of a character
            is_cut = lead >= 0xC0 and size < 2 + (lead >= 0xE0) + (lead >= 0xF0)
            return content[:-size] if is_cut and size < len(content) else content
    return content


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n")


def _earlier(first_line: int, start: int, *, begins_within: bool) -> str | None:
    if start == 0:
        return None
    if first_line == 1:
        return f"byte={max(0, start - SLICE_BYTES)}"
    return f"line={first_line if begins_within else max(1, first_line - SLICE_LINES)}"


async def hex_slice_of(body: Body, look: Look) -> Slice:
    """Return the part of binary content that a look asks for with `byte`, as rows of hexadecimal digits."""
    start = min(look.whole("byte") or 0, max(0, body.size_bytes - 1)) // _HEX_ROW * _HEX_ROW
    content = (await body.read(start, _HEX_BYTES)).content
    stop = start + len(content)
    return Slice(
        lines=tuple(_hex_rows(content, start)),
        first_line=1,
        start=start,
        stop=stop,
        total=body.size_bytes,
        earlier=f"byte={max(0, start - _HEX_BYTES)}" if start else None,
        later=f"byte={stop}" if stop < body.size_bytes else None,
    )


def _hex_rows(content: bytes, start: int) -> list[str]:
    rows = (content[at : at + _HEX_ROW] for at in range(0, len(content), _HEX_ROW))
    return [f"{start + place * _HEX_ROW:08x}  {row.hex(' ')}" for place, row in enumerate(rows)]
