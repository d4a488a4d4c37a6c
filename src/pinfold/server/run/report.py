"""What stands in place of what was left out: how much, behind which pointer, which lines look wrong, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pinfold.context.estimate import ceiling
from pinfold.context.visible import clip, clip_front, counted, size_text, visible
from pinfold.server.own_command import command_name
from pinfold.server.run.screen import on_screen
from pinfold.server.run.storing import Stored
from pinfold.store.results import Artifact, ArtifactSlice

_MARK = "[pinfold]"
_END_TOKENS = 600
_END_SHARE = 5
_END_LINES = 40
_LINE_CHARS = 300
_ERROR_CHARS = 200
_NEXT_LINES = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """What of an output has been shown, in bytes and whole lines, and the threshold that it was over."""

    shown_bytes: int
    shown_lines: int
    spill_tokens: int


@dataclass(frozen=True, slots=True)
class _End:
    """The last lines that fit, as a terminal would show them, and the number of the first."""

    first_line: int
    text: str


def report(stored: Stored, seen: Seen, status: int) -> str:
    """Return the report: at most about 1,400 tokens; its end takes a fifth of the threshold where that is less.

    `status` is the command's, -n after signal n.
    """
    end = _end(stored.end, seen) if stored.end.artifact.outline.tokens else _End(0, "")
    return "\n".join(
        [
            f"{_MARK} {_left_out(stored, seen, end)} {_where(stored)}",
            *_errors(stored),
            *_shown(stored, end),
            f"{_MARK} {_ending(status)}. {_further(stored, seen)}{_new_store(stored)}",
            "",
        ]
    )


def _left_out(stored: Stored, seen: Seen, end: _End) -> str:
    left_bytes = stored.total_bytes - seen.shown_bytes - len(end.text.encode())
    place = f", from line {seen.shown_lines + 1:,} on" if stored.whole.outline.tokens else ""
    return f"{size_text(max(0, left_bytes))} left out here{place}."


def _where(stored: Stored) -> str:
    if stored.rest is None:
        return f"All of it is {stored.whole.pointer}: {_size(stored.whole)}."
    lost = f"; the {stored.dropped_bytes:,} bytes between are not kept" if stored.dropped_bytes else ""
    return (
        f"Its first {stored.first_bytes:,} bytes are {stored.whole.pointer}: {_size(stored.whole)}. "
        f"Its last {stored.last_bytes:,} bytes are {stored.rest.pointer}{lost}."
    )


def _size(artifact: Artifact) -> str:
    outline = artifact.outline
    if not outline.tokens:
        return f"{size_text(artifact.size_bytes)} of {outline.media_type}"
    about = "about " if outline.tokens_estimated else ""
    lines = counted(artifact.lines, "line")
    return f"{size_text(artifact.size_bytes)}, {lines}, {about}{counted(outline.tokens, 'token')}"


def _errors(stored: Stored) -> Iterator[str]:
    number = stored.whole.outline.error_lines
    if number:
        first = ", the first" if number > len(stored.errors) else ""
        yield f"{_MARK} {counted(number, 'line')} with errors or warnings{first}:"
    for found in stored.errors:
        shown = on_screen(found.content).strip()
        yield f"{stored.whole.pointer}#L{found.first_line}  {_short(shown, _ERROR_CHARS)}"


def _shown(stored: Stored, end: _End) -> Iterator[str]:
    if end.text:
        yield f"{_MARK} The end, from {stored.end.artifact.pointer}#L{end.first_line} on:"
        yield end.text


def _end(piece: ArtifactSlice, seen: Seen) -> _End:
    lines = on_screen(piece.content).removesuffix("\n").split("\n")
    last_line = piece.first_line + len(lines) - 1
    room = min(_END_TOKENS, seen.spill_tokens // _END_SHARE)
    shown: list[str] = []
    left = room
    for line in map(_short, reversed(lines[-_END_LINES:])):
        left -= ceiling(line) + 1
        if left < 0:
            break
        shown.insert(0, line)
    if not shown:
        return _End(last_line, f"…{clip_front(lines[-1], room)}")
    return _End(last_line - len(shown) + 1, "\n".join(shown))


def _short(line: str, max_chars: int = _LINE_CHARS) -> str:
    return line if len(line) <= max_chars else f"{clip(line, max_chars)}…"


def _ending(status: int) -> str:
    return f"Exit status {status}" if status >= 0 else f"Ended by signal {-status}"


def _new_store(stored: Stored) -> str:
    """Say where it went when that was new: started in another folder, a command has another project's store."""
    return (
        f" A new store was made for it, of project {visible(stored.new_project)}."
        if stored.new_project
        else ""
    )


def _further(stored: Stored, seen: Seen) -> str:
    pointer = stored.whole.pointer
    if not stored.whole.outline.tokens:
        return (
            f'Read it with fetch_pointer("{pointer}"), or in a shell with `{command_name()} show {pointer}`.'
        )
    first = min(seen.shown_lines + 1, stored.whole.lines)
    span = f"{first}-{min(first + _NEXT_LINES - 1, stored.whole.lines)}"
    return (
        f'Read on with fetch_pointer("{pointer}", lines="{span}") or match="…", or in a shell with'
        f" `{command_name()} show {pointer}#L{span}`."
    )
