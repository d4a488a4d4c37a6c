"""From one request to the next: which decisions have to be recorded first. Source: design 4 (strategies, overflow)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from pinfold.context.projection.clipping import clip
from pinfold.context.projection.folding import Summarizer, fold
from pinfold.context.projection.history import Decision, Folded, Message, Step
from pinfold.context.projection.policy import Policy, Size
from pinfold.context.projection.reclaiming import reclaim
from pinfold.context.projection.request import Request, project
from pinfold.context.projection.shortening import at_source
from pinfold.store.errors import PinfoldError

Reply = TypeVar("Reply")

OPEN = 0
"""The number of a fold that has no place in the log yet."""


class OverBudgetError(PinfoldError):
    """What no fold may take (pins, exchanges that hold one) is over the budget by itself."""


class TooLongError(Exception):
    """What a `send` raises where the receiver rejects a request as too long."""


class Sizes(dict[str, int]):
    """Tokens by text, each counted once: of texts that a history holds anyway."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self._size = size

    def __missing__(self, text: str) -> int:
        tokens = self[text] = self._size(text)
        return tokens


class Advancing(ABC):
    """A history that grows under one policy, from request to request; a kind of it says where decisions are kept.

    Each decision stands in `history` as the messages do, in order: a replay of it gives the same requests.
    """

    def __init__(self, policy: Policy, summarize: Summarizer, history: list[Step]) -> None:
        self.sizes = Sizes(policy.size)
        self.policy = replace(policy, size=self.sizes.__getitem__)
        self.history = history
        self._summarize = summarize

    def projected(self) -> Request:
        """Return what the next request is without any new decision; it may be over the budget."""
        return project(self.history, self.policy)

    async def request(self, idle_s: float = 0.0) -> Request:
        """Decide what has to be decided, mildest first, and return the next request, which is within the budget.

        `idle_s`: since the last request was sent. Raises `OverBudgetError`.
        """
        request = await self._current()
        request = await self._decided(request, *reclaim(request.messages, self.policy, idle_s))
        if not request.fits:
            hidden = clip(request.messages, self.policy, request.used.total - request.used.budget)
            request = await self._decided(request, *([hidden] if hidden else []))
        while not request.fits:
            if await self._fold(request) is None:
                raise _over_budget(request)
            request = self.projected()
        return request

    async def fold(self) -> Folded | None:
        """Fold once, whether or not it has to be; None where there is nothing to win."""
        return await self._fold(await self._current())

    async def send(self, send: Callable[[Request], Awaitable[Reply]], idle_s: float = 0.0) -> Reply:
        """Send the next request; where the receiver finds it too long, fold once and try once more, and no further."""
        try:
            return await send(await self.request(idle_s))
        except TooLongError:
            if await self.fold() is None:
                raise
        return await send(self.projected())

    async def _current(self) -> Request:
        """Return `projected`, once the history is up to date."""
        return self.projected()

    @abstractmethod
    async def _take(self, decisions: Sequence[Decision]) -> None:
        """Take decisions into the history; a fold's number is still open."""

    async def _decided(self, request: Request, *decisions: Decision) -> Request:
        """Take in decisions; return the request as it is with them."""
        if not decisions:
            return request
        await self._take(decisions)
        return self.projected()

    async def _fold(self, request: Request) -> Folded | None:
        folded = await fold(request.messages, OPEN, self.policy, self._summarize)
        if folded is None:
            return None
        await self._take([folded])
        return next(step for step in reversed(self.history) if isinstance(step, Folded))


class Conversation(Advancing):
    """A history in memory, which counts its messages and folds from 1."""

    def __init__(self, policy: Policy, summarize: Summarizer, history: Iterable[Step] = ()) -> None:
        super().__init__(policy, summarize, list(history))
        # It tries many cuts, whose sizes nobody asks for again: so the policy that remembers none.
        self._at_source = partial(at_source, policy=policy)
        self._last = max((_number(step) for step in self.history), default=0)

    def append(self, message: Message) -> Message:
        """Take in a message under the next number; a long result is shortened at the source. Return it as it stands."""
        message = replace(message, number=self._next())
        self.history.append(message)
        short = self._at_source(message)
        if short is None:
            return message
        self.history.append(short)
        return replace(message, text=short.text)

    async def _take(self, decisions: Sequence[Decision]) -> None:
        for each in decisions:
            self.history.append(replace(each, number=self._next()) if isinstance(each, Folded) else each)

    def _next(self) -> int:
        self._last += 1
        return self._last


def _number(step: Step) -> int:
    return step.number if isinstance(step, Message | Folded) else 0


def _over_budget(request: Request) -> OverBudgetError:
    used = request.used
    return OverBudgetError(
        f"The request takes {used.total:,} tokens of {used.budget:,}, {used.pins:,} of them pins, and nothing in it"
        " may be folded any further.",
        hint="Supersede pins that no longer hold, or give history a larger budget.",
    )
