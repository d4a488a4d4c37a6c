"""The fold, a projection's last resort: one summary for the oldest messages, and never for a pin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from pinfold.context.projection.history import Folded, Message
from pinfold.context.projection.legal import exchanges
from pinfold.context.projection.policy import Policy
from pinfold.context.projection.shortening import cut

Summarizer = Callable[[Sequence[Message], int], Awaitable[str]]
"""Takes messages and the most tokens that their summary should take; returns the summary."""


def foldable(messages: Sequence[Message], policy: Policy, keep: int) -> tuple[Message, ...]:
    """Return what a fold would fold: the oldest unpinned messages, up to a legal boundary.

    With `policy.fold_batch` that many, or a few more where an exchange would be cut; else all but the newest `keep`
    tokens, or a few less, and never the newest exchange. One that holds a pin stays whole.
    """
    runs = list(exchanges(messages))
    if policy.fold_batch is None:
        runs = runs[:-1]
    free = [run for run in runs if not any(each.pinned for each in run)]
    most = len(messages) if policy.fold_batch is None else policy.fold_batch
    left = sum(map(policy.tokens, messages)) if policy.fold_batch is None else 0
    chosen: list[Message] = []
    for run in free:
        left -= sum(map(policy.tokens, run))
        if len(chosen) >= most or (policy.fold_batch is None and left < keep):
            break
        chosen.extend(run)
    return tuple(chosen)


async def fold(
    messages: Sequence[Message], number: int, policy: Policy, summarize: Summarizer
) -> Folded | None:
    """Fold the oldest messages into a shorter one, if need be without keeping any; None where nothing is to be won."""
    for keep in (policy.keep, 0):
        chosen = foldable(messages, policy, keep)
        before = sum(map(policy.tokens, chosen))
        if not chosen:
            continue
        text = await _summary(chosen, before, policy, summarize)
        if _tokens(text, policy) < before:
            return Folded(number, tuple(each.number for each in chosen), text)
    return None


async def _summary(chosen: Sequence[Message], before: int, policy: Policy, summarize: Summarizer) -> str:
    """Return the summary's message; one that is longer than what it is about is cut, since nobody could go on."""
    head, most = f"[folded {len(chosen)} messages]\n", max(1, before // 2)
    said = await summarize(chosen, most)
    if _tokens(head + said, policy) >= before:
        said = cut(said, most - policy.size(head), policy.size)
    return head + said


def _tokens(text: str, policy: Policy) -> int:
    return policy.tokens(Message(0, "system", text))
