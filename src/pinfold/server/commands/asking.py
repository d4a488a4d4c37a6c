"""Who asks at the command line, and how: one store, opened for one question."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pinfold.context.brief import Brief, render_brief
from pinfold.server.clients import identify
from pinfold.store import Store
from pinfold.store.results import BriefState
from pinfold.store.values import Caller

T = TypeVar("T")
BATCH = 500
"""How much of a listing is read at a time."""


async def brief_now(store: Store) -> tuple[BriefState, str]:
    """Return what `pinfold brief` shows, and what it is made from."""
    state, brief = await brief_at(store)
    return state, brief.text


async def brief_at(store: Store, as_of: int | None = None) -> tuple[BriefState, Brief]:
    """Return the brief as it was at a seq (default: now), and what it is made from. Raises what the store raises."""
    state = await store.brief_state(Caller(*identify("", {}, os.environ), actor="cli"), as_of)
    return state, render_brief(state, store.fence)


async def everything(
    read: Callable[[int | None, int], Awaitable[tuple[T, ...]]], number: Callable[[T], int]
) -> list[T]:
    """Return a whole listing of a store, newest first; `number` is what its next page is asked for with."""
    found: list[T] = []
    before: int | None = None
    while batch := await read(before, BATCH):
        found += batch
        before = number(batch[-1])
    return found
