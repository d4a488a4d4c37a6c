"""The messages of the next request: a pure function of the history and the policy. Source: design 4 (three layers)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pinfold.context.projection.history import Folded, Hidden, Message, Shortened, Step, Superseded
from pinfold.context.projection.legal import settled, whole
from pinfold.context.projection.policy import Policy


@dataclass(frozen=True, slots=True)
class Used:
    """What a request takes of its budget, in tokens by what it is spent on."""

    pins: int
    summaries: int
    results: int
    messages: int
    budget: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.pins + self.summaries + self.results + self.messages


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent this turn, and what it takes."""

    messages: tuple[Message, ...]
    used: Used

    @property
    def fits(self) -> bool:
        """Whether it is within its budget."""
        return self.used.total <= self.used.budget


def project(history: Iterable[Step], policy: Policy, *, as_of: int | None = None) -> Request:
    """Return the request that a history gives under a policy, in time linear in the history.

    Pins stand as they are whatever was decided about them; no call stands without its results. `as_of`: with the
    history as it was up to that number of the log. Whether it fits is the caller's to look at.
    """
    messages = whole(settled(standing(history, as_of)))
    return Request(messages, _used(messages, policy))


def standing(history: Iterable[Step], as_of: int | None = None) -> tuple[Message, ...]:
    """Apply what was decided, in order; return the messages of the main conversation that stand."""
    found: dict[int, Message] = {}
    for step in history:
        match step:
            case Message():
                if as_of is not None and step.number > as_of:
                    break
                if not step.agent:
                    found[step.number] = step
            case Shortened():
                if step.message in found and not found[step.message].pinned:
                    found[step.message] = replace(found[step.message], text=step.text)
            case Hidden():
                _drop(found, step.messages)
            case Superseded():
                found.pop(step.message, None)
            case Folded():
                if as_of is not None and step.number > as_of:
                    break
                found = _folded(found, step)
    return tuple(found.values())


def _drop(found: dict[int, Message], numbers: Sequence[int]) -> None:
    for number in numbers:
        if number in found and not found[number].pinned:
            del found[number]


def _folded(found: dict[int, Message], fold: Folded) -> dict[int, Message]:
    gone = {number for number in fold.messages if number in found and not found[number].pinned}
    summary = Message(fold.number, "system", fold.text)
    made: dict[int, Message] = {}
    for number, message in found.items():
        if number not in gone:
            made[number] = message
        elif fold.number not in made:
            made[fold.number] = summary
    return made


def _used(messages: Sequence[Message], policy: Policy) -> Used:
    spent = dict.fromkeys(("pins", "summaries", "results", "messages"), 0)
    for each in messages:
        spent[_purpose(each)] += policy.tokens(each)
    return Used(**spent, budget=policy.budget.history)


def _purpose(message: Message) -> str:
    if message.pinned:
        return "pins"
    return {"system": "summaries", "tool": "results"}.get(message.role, "messages")
