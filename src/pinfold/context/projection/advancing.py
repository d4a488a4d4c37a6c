"""From one request to the next: which decisions have to be recorded first. Source: design 4 (strategies, overflow)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar

from pinfold.context.projection.clipping import clip
from pinfold.context.projection.folding import Summarizer, fold
from pinfold.context.projection.history import Decision, Folded, Message, Step
from pinfold.context.projection.policy import Policy
from pinfold.context.projection.reclaiming import reclaim
from pinfold.context.projection.request import Request, project
from pinfold.context.projection.shortening import at_source
from pinfold.store.errors import PinfoldError

Reply = TypeVar("Reply")


class OverBudgetError(PinfoldError):
    """What no fold may take (pins, exchanges that hold one) is over the budget by itself."""


class TooLongError(Exception):
    """What a `send` raises where the receiver rejects a request as too long."""


class Conversation:
    """A history that grows under one policy.

    Each decision is appended to `history` as the messages are, in order: a replay of it gives the same requests.
    """

    def __init__(self, policy: Policy, summarize: Summarizer, history: Iterable[Step] = ()) -> None:
        self.policy = replace(policy, size=cache(policy.size))  # of texts that the history holds anyway
        self._at_source = partial(at_source, policy=policy)  # which tries many cuts that it does not
        self.history = list(history)
        self._summarize = summarize
        self._last = max((_number(step) for step in self.history), default=0)

    def append(self, message: Message) -> Message:
        """Take in a message under the next number; a long result is shortened at the source. Return it as it stands."""
        self._last += 1
        message = replace(message, number=self._last)
        self.history.append(message)
        short = self._at_source(message)
        if short is None:
            return message
        self.history.append(short)
        return replace(message, text=short.text)

    def projected(self) -> Request:
        """Return what the next request is without any new decision; it may be over the budget."""
        return project(self.history, self.policy)

    async def request(self, idle_s: float = 0.0) -> Request:
        """Decide what has to be decided, mildest first, and return the next request, which is within the budget.

        `idle_s`: since the last request was sent. Raises `OverBudgetError`.
        """
        request = self.projected()
        request = self._decided(request, *reclaim(request.messages, self.policy, idle_s))
        if not request.fits:
            hidden = clip(request.messages, self.policy, request.used.total - request.used.budget)
            request = self._decided(request, *([hidden] if hidden else []))
        while not request.fits:
            if await self._fold(request) is None:
                raise _over_budget(request)
            request = self.projected()
        return request

    async def fold(self) -> Folded | None:
        """Fold once, whether or not it has to be; None where there is nothing to win."""
        return await self._fold(self.projected())

    def _decided(self, request: Request, *decisions: Decision) -> Request:
        """Take in decisions; return the request as it is with them."""
        self.history.extend(decisions)
        return self.projected() if decisions else request

    async def _fold(self, request: Request) -> Folded | None:
        folded = await fold(request.messages, self._last + 1, self.policy, self._summarize)
        if folded:
            self._last += 1
            self.history.append(folded)
        return folded

    async def send(self, send: Callable[[Request], Awaitable[Reply]], idle_s: float = 0.0) -> Reply:
        """Send the next request; where the receiver finds it too long, fold once and try once more, and no further."""
        try:
            return await send(await self.request(idle_s))
        except TooLongError:
            if await self.fold() is None:
                raise
        return await send(self.projected())


def _number(step: Step) -> int:
    return step.number if isinstance(step, Message | Folded) else 0


def _over_budget(request: Request) -> OverBudgetError:
    used = request.used
    return OverBudgetError(
        f"The request takes {used.total:,} tokens of {used.budget:,}, {used.pins:,} of them pins, and nothing in it"
        " may be folded any further.",
        hint="Supersede pins that no longer hold, or give history a larger budget.",
    )
