"""`pinfold lab fold`: what is left of a decision after folds of folds, without a pin and with one. Source: design 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinfold.context.lab.script import WATCHED, conversation, estimate
from pinfold.context.projection import Budget, Conversation, Folded, Message, Policy, Summarizer, extractive
from pinfold.context.projection.policy import Size

TAIL_TOKENS = 900
BATCH = 6


@dataclass(frozen=True, slots=True)
class FoldSeen:
    """One fold: its number from 1, tokens of what was folded and of its summary, and the watched words it lost."""

    number: int
    before: int
    after: int
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the experiment. `kept` are the watched words that the last request still holds."""

    pinned: bool
    folds: tuple[FoldSeen, ...]
    tokens: int
    kept: tuple[str, ...]
    watched: tuple[str, ...] = WATCHED


async def run(*, pinned: bool, summarize: Summarizer | None = None, size: Size = estimate) -> Run:
    """Play the conversation, folding once after each message that takes the history over its budget."""
    policy = Policy(Budget(TAIL_TOKENS), fold_batch=BATCH, size=size)
    played = Conversation(policy, summarize or extractive())
    folds: list[FoldSeen] = []
    for message in conversation(size, pinned=pinned):
        played.append(message)
        before = played.projected()
        if not before.fits and (folded := await played.fold()):
            folds.append(_seen(len(folds) + 1, before.messages, folded, policy))
    last = played.projected()
    text = "\n".join(each.text for each in last.messages)
    return Run(pinned, tuple(folds), last.used.total, _watched_in(text))


def _seen(number: int, messages: Sequence[Message], folded: Folded, policy: Policy) -> FoldSeen:
    gone = [each for each in messages if each.number in set(folded.messages)]
    had = _watched_in("\n".join(each.text for each in gone))
    kept = _watched_in(folded.text)
    lost = tuple(word for word in had if word not in kept)
    return FoldSeen(number, sum(map(policy.tokens, gone)), policy.size(folded.text), lost)


def _watched_in(text: str) -> tuple[str, ...]:
    return tuple(word for word in WATCHED if word.casefold() in text.casefold())
