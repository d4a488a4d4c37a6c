"""An interval of low value is hidden: exchanges without a word of a person, older than what is stale."""

from __future__ import annotations

from collections.abc import Sequence

from pinfold.context.projection.history import Hidden, Message
from pinfold.context.projection.legal import exchanges
from pinfold.context.projection.policy import Policy


def clip(messages: Sequence[Message], policy: Policy, excess: int) -> Hidden | None:
    """Hide the oldest stale exchanges that say nothing, until `excess` tokens are won; None without any."""
    turns_left = sum(each.role == "user" for each in messages)
    chosen: list[int] = []
    for run in exchanges(messages):
        turns_left -= sum(each.role == "user" for each in run)
        if excess <= 0 or turns_left < policy.stale_turns:
            break
        if _is_silent(run):
            chosen.extend(each.number for each in run)
            excess -= sum(map(policy.tokens, run))
    return Hidden(tuple(chosen)) if chosen else None


def _is_silent(run: Sequence[Message]) -> bool:
    return any(each.answers for each in run) and not any(
        each.pinned or each.role in ("user", "system") or (each.role == "assistant" and each.text.strip())
        for each in run
    )
