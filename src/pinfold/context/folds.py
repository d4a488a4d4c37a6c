"""The audit of a fold: what stood before it and is not in its summary.

Pure and the same for the same input; text is compared, not meaning, so "absent" is certain and "lost" a guess. Under
a second for a window of 164,000 tokens. Source: design 3 (Folds and their audit).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pinfold.context.lost_decisions import SummaryLines, lost_decisions
from pinfold.context.said import SOURCES
from pinfold.context.specifics import Kept
from pinfold.context.strings import strings_in_play
from pinfold.context.visible import shorten
from pinfold.store.results import Entry, FoldedPart, FormerSummary, Pin

_PAGE_CHARS = 256 * 1024
_REASON_CHARS = 80

_Watched = tuple[tuple[str, ...], str | None]
"""A pin's specifics that stood in the part, and its reason."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found; the fields are those of `commands.RecordFold`."""

    present: dict[int, int] = field(default_factory=dict)
    lost: dict[int, tuple[str, ...]] = field(default_factory=dict)
    offered: tuple[tuple[str, str], ...] = ()
    strings: tuple[tuple[str, str], ...] = ()


def audit(part: FoldedPart, summary: str, *, briefed: bool, at: str | None = None) -> Audit:
    """Compare what was folded with its summary.

    `at` is when that was, as the log spells an instant, and None: now. A pin of another session that was made later
    could not be in a summary.

    `briefed`: the client was given the brief when the part began, so the pins of that time stood in it. A pin's reason
    is one of its specifics; it is lost when no two neighbouring lines of the summary hold half of its words.
    """
    kept = Kept(summary)
    pins = tuple(pin for pin in part.pins if pin.session == part.session or at is None or pin.at <= at)
    watched = dict(_watched(replace(part, pins=pins), briefed=briefed))
    lost = dict(_lost(watched, kept, SummaryLines(summary)))
    pinned = Kept("\n".join(f"{pin.text}\n{pin.why}" for pin in part.pins))
    spoken: list[Entry | FormerSummary] = [part.former] if part.former else []
    spoken += [entry for entry in part.entries if entry.role in ("user", "assistant")]
    return Audit(
        {number: len(parts) + (why is not None) for number, (parts, why) in watched.items()},
        lost,
        lost_decisions(spoken, summary, kept, part.pins),
        strings_in_play(part.entries, (kept, pinned)),
    )


def _watched(part: FoldedPart, *, briefed: bool) -> Iterator[tuple[int, _Watched]]:
    """Yield pins with those of their specifics that stood in the part, and with their reason, if it was shown."""
    shown = {pin.number for pin in part.pins if _was_shown(pin, part, briefed=briefed)}
    stood = _stood({each for pin in part.pins if pin.number not in shown for each in pin.specifics}, part)
    for pin in part.pins:
        parts = tuple(each for each in pin.specifics if pin.number in shown or each in stood)
        why = pin.why if pin.number in shown and pin.why not in SOURCES else None
        if parts or why:
            yield pin.number, (parts, why)


def _lost(
    watched: Mapping[int, _Watched], kept: Kept, lines: SummaryLines
) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, (parts, why) in watched.items():
        dropped = [each for each in parts if not kept.holds(each)]
        if why is not None and not lines.give(why):
            dropped.append(f"why: {shorten(why, _REASON_CHARS)}")
        if dropped:
            yield number, tuple(dropped)


def _stood(wanted: set[str], part: FoldedPart) -> set[str]:
    """Return which of some specifics an entry held; pages at a time, since a window of them is large."""
    found: set[str] = set()
    for page in _pages(part):
        if found == wanted:
            break
        text = Kept(page)
        found |= {each for each in wanted - found if text.has_word(each) and text.holds(each)}
    return found


def _pages(part: FoldedPart) -> Iterator[str]:
    page = [part.former.text] if part.former else []
    chars = 0
    for entry in part.entries:
        page.append(entry.text)
        chars += len(entry.text)
        if chars >= _PAGE_CHARS:
            yield "\n".join(page)
            page, chars = [], 0
    yield "\n".join(page)


def _was_shown(pin: Pin, part: FoldedPart, *, briefed: bool) -> bool:
    """Whether a pin stood in the window as a whole: in the brief, or as the call that made it."""
    return briefed if pin.seq <= part.since else pin.session == part.session
