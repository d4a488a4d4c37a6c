"""The brief's first part: pins, so ordered that what stood there at the last fold stays where it is.

Pins live at the epoch come by kind; later ones, and what they supersede, are appended as they happened. So the
part only ever grows at its end until the next epoch, and a client's prompt cache keeps its prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from pinfold.context.estimate import ceiling
from pinfold.context.lines import Line, Room, line
from pinfold.context.visible import shorten, visible
from pinfold.store.results import BriefState, Pin
from pinfold.store.values import BRIEF_ORDER, PinKind

Clean = Callable[[str], str]
"""Makes stored text safe to show: hidden characters spelled out, the fence broken up."""

_HEADINGS = {
    PinKind.CONSTRAINT: "Constraints",
    PinKind.DECISION: "Decisions",
    PinKind.DEAD_END: "Dead ends (tried, ruled out)",
    PinKind.FACT: "Facts",
}
_SINCE = "Pinned since"
_SHORT_CHARS = 40
_LABEL_TOKENS = 3
_BREAK_TOKENS = 4
_FIRST_TO_STAY = (PinKind.CONSTRAINT, PinKind.DECISION)
_WIDEST_POINTER = "P000000"
_NOTE = (
    'To fit, {} pins show only their first words and {} are left out; fetch_pointer("P1") returns one whole,'
    ' fetch_pointer("pins") lists all.'
)


def _pin_line(lead: str, text: str, why: str, files: Sequence[str]) -> str:
    concerns = f"  Files: {', '.join(files)}" if files else ""
    reason = f"  Why: {why}" if why and why not in text else ""
    return f"{lead}  {text}{reason}{concerns}"


def pin_text(text: str, why: str, files: Sequence[str] = ()) -> str:
    """Return the text whose tokens are to be stored as a pin's `tokens`: its line in the brief, with the line end.

    Stands for any pointer up to `P999999`, so the sum over pins is never below what their lines take.
    """
    return visible(_pin_line(_WIDEST_POINTER, text, why, files)) + "\n"


@dataclass(frozen=True, slots=True)
class PinPart:
    """The lines of all pins, and how many of those that still stand are verbatim, shortened or left out."""

    lines: tuple[Line, ...]
    verbatim: int
    shortened: int
    left_out: int


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line to be, whole and short: a pin's, or (without `pin`) a heading or a mark, which has no short form."""

    whole: Line
    short: Line
    pin: Pin | None = None
    is_heading: bool = False

    @property
    def stands(self) -> bool:
        return self.pin is not None and self.pin.superseded_by is None


def pin_part(state: BriefState, clean: Clean, room: Room) -> PinPart:
    """Lay out the pins and take their room; verbatim all of them if they fit, else the newest that matter most."""
    entries = _entries(state, clean)
    whole = [entry.whole for entry in entries]
    if room.take(*whole):
        return _counted(entries, dict(enumerate(whole)))
    note = line(_NOTE.format(len(entries), len(entries)))
    room.take(note)
    part = _counted(entries, _squeezed(entries, room))
    note = line(_NOTE.format(part.shortened, part.left_out))
    return replace(part, lines=(*part.lines, note))


def _entries(state: BriefState, clean: Clean) -> list[_Entry]:
    old = [pin for pin in state.pins if pin.seq <= state.epoch]
    entries: list[_Entry] = []
    for kind in BRIEF_ORDER:
        of_kind = [_entry(pin, pin.pointer, clean) for pin in old if pin.kind == kind]
        entries += [_heading(_HEADINGS[kind]), *of_kind] if of_kind else []
    since = _since(state, clean)
    return entries + ([_heading(_SINCE), *since] if since else [])


def _since(state: BriefState, clean: Clean) -> list[_Entry]:
    """Return what happened to the pins after the epoch, in the log's order."""
    happened: list[tuple[tuple[int, int, int], _Entry]] = []
    for pin in state.pins:
        if pin.seq > state.epoch:
            label = f"{pin.pointer} {pin.kind.value.replace('_', ' ')}"
            happened.append(((pin.seq, 0, pin.number), _entry(pin, label, clean)))
        if pin.superseded_by is not None:
            mark = _mark(f"{pin.pointer} is superseded by P{pin.superseded_by}")
            happened.append(((pin.superseded_seq or state.seq, 1, pin.number), mark))
    return [entry for _, entry in sorted(happened, key=itemgetter(0))]


def _heading(text: str) -> _Entry:
    return _Entry(line(text), line(text), is_heading=True)


def _mark(text: str) -> _Entry:
    return _Entry(line(text), line(text))


def _entry(pin: Pin, lead: str, clean: Clean) -> _Entry:
    plain = visible(_pin_line(lead, pin.text, pin.why, pin.files))
    shown = clean(plain)
    tokens = (pin.tokens or ceiling(plain) + 1) + _LABEL_TOKENS * (lead != pin.pointer)
    whole = Line(shown, tokens + _BREAK_TOKENS * (len(shown) - len(plain)))
    short = line(clean(f"{lead}  {shorten(visible(pin.text), _SHORT_CHARS).rstrip('…')} …"))
    return _Entry(whole, short if short.tokens < whole.tokens else whole, pin)


def _squeezed(entries: list[_Entry], room: Room) -> dict[int, Line]:
    """Choose a line for as many entries as the room allows, by their place.

    Half of the room goes to the first in rank, verbatim; then each other gets its short line; what is left makes
    more of them whole.
    """
    ranked = sorted(range(len(entries)), key=lambda place: _rank(entries[place]))
    half = Room(room.tokens // 2, room.chars // 2)
    chosen: dict[int, Line] = {}
    for place in ranked:
        entry = entries[place]
        line_taken = entry.whole if half.take(entry.whole) else entry.short
        if room.take(line_taken):
            chosen[place] = line_taken
    for place in ranked:
        if place in chosen and room.swap(chosen[place], entries[place].whole):
            chosen[place] = entries[place].whole
    return chosen


def _rank(entry: _Entry) -> tuple[bool, bool, bool, int]:
    """Sort headings and marks first, then standing constraints and decisions, newest first, then the others."""
    pin = entry.pin
    if pin is None:
        return (False, False, False, 0)
    return (True, not entry.stands, pin.kind not in _FIRST_TO_STAY, -pin.number)


def _counted(entries: list[_Entry], chosen: dict[int, Line]) -> PinPart:
    standing = {place: entry for place, entry in enumerate(entries) if entry.stands}
    shown = [place for place in standing if place in chosen]
    verbatim = sum(1 for place in shown if chosen[place] is standing[place].whole)
    return PinPart(
        _without_empty_headings(entries, chosen), verbatim, len(shown) - verbatim, len(standing) - len(shown)
    )


def _without_empty_headings(entries: list[_Entry], chosen: dict[int, Line]) -> tuple[Line, ...]:
    kept: list[Line] = []
    has_lines = False
    for place in sorted(chosen, reverse=True):
        is_heading = entries[place].is_heading
        if has_lines or not is_heading:
            kept.append(chosen[place])
        has_lines = not is_heading
    return tuple(reversed(kept))
