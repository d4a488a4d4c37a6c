"""Which messages belong together: a tool call and its results are sent together or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pinfold.context.projection.history import Message

Exchange = tuple[Message, ...]


def exchanges(messages: Sequence[Message]) -> Iterator[Exchange]:
    """Yield runs that no boundary may cut, in order: single messages, or a call up to its last result."""
    last = {each.answers: place for place, each in enumerate(messages) if each.answers}
    start, stop = 0, -1
    for place, each in enumerate(messages):
        stop = max(stop, place, *(last.get(call, place) for call in each.calls))
        if place == stop:
            yield tuple(messages[start : stop + 1])
            start = stop + 1


def settled(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put what was pinned in the midst of an exchange behind it."""
    if not any(map(_is_beside, messages)):
        return tuple(messages)
    return tuple(each for run in exchanges(messages) for each in sorted(run, key=_is_beside))


def _is_beside(message: Message) -> bool:
    return message.pinned and not (message.calls or message.answers)


def whole(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Leave out results without their call, and calls without all of their results, as a killed run leaves them."""
    answered = _in_order(messages)
    kept: list[Message] = []
    for each in messages:
        if each.answers:
            kept.extend([each] if each.answers in answered else [])
        elif not each.calls or all(call in answered for call in each.calls):
            kept.append(each)
        elif each.text:
            kept.append(replace(each, calls=(), inputs=""))
    return tuple(kept)


def _in_order(messages: Sequence[Message]) -> set[str]:
    """Return the calls all of whose fellows in the same message have a result behind it."""
    place_of = {each.answers: place for place, each in enumerate(messages) if each.answers}
    found: set[str] = set()
    for place, each in enumerate(messages):
        if each.calls and all(place_of.get(call, -1) > place for call in each.calls):
            found.update(each.calls)
    return found
