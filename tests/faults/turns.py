"""Who continues next, and who is stopped where: tasks that are cancelled at a chosen turn, and loops in any order."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio

T = TypeVar("T")


class _Turns(Generic[T]):
    """Awaits something, and calls `act` as it gives up its turn for the `at`-th time."""

    def __init__(self, awaited: Awaitable[T], at: int, act: Callable[[], object]) -> None:
        self._awaited = awaited
        self._at = at
        self._act = act
        self.taken = 0

    def __await__(self) -> Generator[Any, Any, T]:
        inner = self._awaited.__await__()
        raised: BaseException | None = None
        while True:
            try:
                given_up_to = inner.send(None) if raised is None else inner.throw(raised)
            except StopIteration as end:
                outcome: T = end.value
                return outcome
            self.taken += 1
            if self.taken == self._at:
                self._act()
            try:
                raised = None
                yield given_up_to
            except BaseException as thrown:
                raised = thrown


async def turns_of(act: Callable[[], Awaitable[object]]) -> int:
    """How often something gives up its turn when nobody cancels it."""
    turns = _Turns(act(), 0, lambda: None)
    await turns
    return turns.taken


@dataclass(frozen=True, slots=True)
class Cut:
    """What became of a task: whether it was cancelled at all, and whether it stopped for that."""

    happened: bool
    stopped: bool


Canceller = Callable[[Callable[[], Awaitable[object]], int, Callable[[], object]], Awaitable[Cut]]


async def by_scope(act: Callable[[], Awaitable[object]], at: int, also: Callable[[], object]) -> Cut:
    """Cancel as a server cancels a request: through the scope that the task is in."""
    with anyio.CancelScope() as scope:

        def cancel() -> None:
            scope.cancel()
            also()

        turns = _Turns(act(), at, cancel)
        await turns
    return Cut(turns.taken >= at, scope.cancelled_caught)


async def by_task(act: Callable[[], Awaitable[object]], at: int, also: Callable[[], object]) -> Cut:
    """Cancel as Ctrl-C does: the task itself, whatever scope shields it."""
    cancelled: list[bool] = []

    def cancel() -> None:
        cancelled.append(task.cancel())
        also()

    async def whole() -> None:
        await _Turns(act(), at, cancel)

    task = asyncio.ensure_future(whole())
    try:
        await task
    except asyncio.CancelledError:
        return Cut(happened=True, stopped=True)
    return Cut(bool(cancelled), stopped=False)


class ShuffledLoop(asyncio.SelectorEventLoop):
    """An event loop in which `draw` says which of those that could continue does so next."""

    draw = random.Random(0)

    def _run_once(self) -> None:
        ready = self._ready  # type: ignore[attr-defined]
        for _ in range(len(ready)):  # each step by itself is safe against other threads that append
            ready.rotate(self.draw.randrange(len(ready)))
            ready.insert(self.draw.randrange(len(ready)), ready.popleft())
        super()._run_once()  # type: ignore[misc]
