"""What a fold that a harness makes itself is recorded with: its sizes, and the audit that every fold gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from pinfold.context.folds import audit
from pinfold.context.projection.entering import Entrance
from pinfold.context.projection.history import Folded, Message
from pinfold.store.commands import RecordFold
from pinfold.store.results import Entry, FoldedPart, FormerSummary, Pin

TRIGGER = "projection"


def recorded(
    fold: Folded,
    known: Mapping[int, Message],
    pins: Sequence[Pin],
    entrance: Entrance,
    sizes: tuple[int, int],
) -> RecordFold:
    """Return what is recorded of a fold; whoever stores it then closes its summary.

    `known` are the messages and summaries of the conversation as they were stored, by number; `sizes` are the tokens
    before and after. Takes up to a second, so it belongs on a worker thread.
    """
    found = audit(_part(fold, known, pins), fold.text, briefed=False)
    return RecordFold(
        entrance.caller,
        uuid4().hex,
        TRIGGER,
        tokens_before=sizes[0],
        tokens_after=sizes[1],
        messages=len(fold.messages),
        summary=entrance.summary(fold.text),
        present=found.present,
        lost=found.lost,
        offered=found.offered,
        strings=found.strings,
        folded=fold.messages,
    )


def _part(fold: Folded, known: Mapping[int, Message], pins: Sequence[Pin]) -> FoldedPart:
    gone = [known[number] for number in fold.messages]
    summaries = [each for each in gone if each.role == "system" and each.pointer.startswith("A")]
    former = (
        FormerSummary(summaries[-1].number, summaries[-1].pointer, summaries[-1].text) if summaries else None
    )
    entries = tuple(_entry(each) for each in gone if each not in summaries)
    return FoldedPart(None, 0, entries, tuple(pins), former=former)


def _entry(message: Message) -> Entry:
    role = "tool_result" if message.role == "tool" else "tool_call" if message.calls else message.role
    text = message.text or message.inputs
    return Entry(
        message.number, "", 0, role, text, message.tool or None, None, None, 0, tokens_estimated=True
    )
