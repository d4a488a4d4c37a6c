"""Stale tool results shrink to one line, when the prefix is cold anyway or the tokens won are worth rewriting it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinfold.context.projection.history import Message, Shortened
from pinfold.context.projection.policy import Policy
from pinfold.context.projection.shortening import one_line
from pinfold.store.values import Stale


def reclaim(messages: Sequence[Message], policy: Policy, idle_s: float) -> tuple[Shortened, ...]:
    """Return which results shrink now: all stale ones while the cache is cold, else those that pay for themselves.

    A hot prefix is rewritten from the first change on; of the ways to choose where it begins, the one that wins most.
    """
    found = list(_stale(messages, policy))
    if not found or policy.cache.is_cold(idle_s):
        return tuple(short for _, short, _ in found)
    behind, total = [0] * (len(messages) + 1), 0
    for place in range(len(messages) - 1, -1, -1):
        total += policy.tokens(messages[place])
        behind[place] = total
    best, gain, won = len(found), 0.0, 0
    for index in range(len(found) - 1, -1, -1):
        place, _, saved = found[index]
        won += saved
        worth = policy.cache.worth(won, behind[place] - won, policy.stale_turns)
        if worth > gain:
            best, gain = index, worth
    return tuple(short for _, short, _ in found[best:])


def _stale(messages: Sequence[Message], policy: Policy) -> Iterator[tuple[int, Shortened, int]]:
    """Yield place, what would stand instead, and the tokens that it wins."""
    turns_left = sum(each.role == "user" for each in messages)
    newest = {_shows(each): each.number for each in messages if each.subject}
    for place, each in enumerate(messages):
        turns_left -= each.role == "user"
        if each.role != "tool" or each.pinned or not each.pointer:
            continue
        if newest.get(_shows(each), each.number) != each.number:
            why = Stale.REPLACED
        elif turns_left >= policy.stale_turns:
            why = Stale.OLD
        else:
            continue
        text = one_line(each, why)
        saved = policy.size(each.text) - policy.size(text)
        if saved > 0:
            yield place, Shortened(each.number, text, "reclaimed", why), saved


def _shows(message: Message) -> tuple[str, str]:
    return message.tool, message.subject
