"""What a person can ask to be forgotten, what goes with it, and what is left. Source: docs/decisions/0011."""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.store.values import Caller, Pointer, Receipt

UNNAMED = "a decision against a dead end"
"""The one thing that has content and no pointer: it is noted as a miss, and was no search."""


@dataclass(frozen=True, slots=True)
class Forget:
    """What to forget: exactly one of the fields that name something is given.

    `pointers` name single things; `session` is a session's number or a client's own name of its conversation;
    `before` is a seq (whole digits) or an ISO 8601 instant, compared with when each thing was stored; `match` is a text
    that stands, letter for letter, in what goes. `keep_pins` leaves out every pin that such a choice would take.
    """

    caller: Caller
    pointers: tuple[Pointer, ...] = ()
    session: str | None = None
    before: str | None = None
    match: str | None = None
    keep_pins: bool = False


@dataclass(frozen=True, slots=True)
class Retention:
    """What `gc` gives up: messages, tool results, artifacts and misses stored before the instant `before`.

    Never pins, checkpoints and folds, what one of those names by its pointer, and the newest `sessions` sessions.
    """

    caller: Caller
    before: str
    sessions: int = 5


@dataclass(frozen=True, slots=True)
class Doomed:
    """One thing that goes. `pointer` is empty for what has none (`UNNAMED`); `title` is one line.

    `why` is empty for what was asked for, else how it belongs to that.

    `is_live_pin`: a pin that the brief shows now.
    """

    seq: int
    pointer: str
    kind: str
    title: str
    why: str = ""
    is_live_pin: bool = False


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """All that goes, in the order of the log.

    `searches` counts recent searches that go; `cleaned` are folds that stay without what they quote of it, and
    `elsewhere` is what holds the same text and stays, since nobody asked for it.
    """

    doomed: tuple[Doomed, ...]
    searches: int = 0
    cleaned: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes."""
        return not (self.doomed or self.searches)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went, and the receipt of the event that says so (None where only recent searches went)."""

    plan: ForgetPlan
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What a scrub of the files came to: bytes before and after, or why it is still owed."""

    before_bytes: int
    after_bytes: int
    owed: str | None = None
