"""A short life of a store, act by act; whatever was acknowledged can be asked for again and writes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random

from pinfold.store import Store
from pinfold.store.commands import Message
from tests.contract.acts import ANNA, BEN, checkpoint, find, pin, spill


@dataclass(frozen=True, slots=True)
class Act:
    """One call of a store. `run` returns what acknowledges it: a receipt, or empty where there is none."""

    key: str
    run: Callable[[Store], Awaitable[str]]
    is_note: bool = False


def pinning(key: str) -> Act:
    """Pin a decision."""

    async def run(store: Store) -> str:
        return str((await pin(store, f"decision {key}", key=key)).receipt)

    return Act(key, run)


def spilling(key: str, size_bytes: int) -> Act:
    """Spill bytes that do not pack well."""
    content = Random(key).randbytes(size_bytes).hex()[:size_bytes].encode()

    async def run(store: Store) -> str:
        return str((await spill(store, content, label=key, key=key)).receipt)

    return Act(key, run)


def saving(key: str) -> Act:
    """Save a checkpoint, from another conversation."""

    async def run(store: Store) -> str:
        return str((await checkpoint(store, BEN, goal=key, pending=(f"{key} item",), key=key)).receipt)

    return Act(key, run)


def saying(key: str) -> Act:
    """Append three messages, once."""
    messages = [Message("user", f"walrus {key} {n}", f"{key}-{n}") for n in range(3)]

    async def run(store: Store) -> str:
        outcome = await store.append_messages(ANNA, messages)
        assert (outcome.appended, outcome.repeated) in ((3, 0), (0, 3))
        return ""

    return Act(key, run)


def searching(query: str) -> Act:
    """Search; leaves a note."""

    async def run(store: Store) -> str:
        await find(store, query)
        return ""

    return Act(f"search {query}", run, is_note=True)


def life(name: str, spilled_bytes: int = 9_000) -> list[Act]:
    """Some of everything; `name` tells the keys of one life from those of another."""
    return [
        pinning(f"{name}-first"),
        saying(f"{name}-said"),
        spilling(f"{name}-log", spilled_bytes),
        searching("walrus"),
        saving(f"{name}-state"),
        pinning(f"{name}-last"),
    ]


async def lost(store: Store, acts: Iterable[Act], acknowledged: Mapping[str, str]) -> list[str]:
    """Ask again for what was acknowledged; return the keys of what is not there as it was.

    Source: P4 (a repeat gives the first receipt and appends nothing).
    """
    missing = []
    for act in acts:
        if act.is_note or act.key not in acknowledged:
            continue
        before = await _end(store)
        if await act.run(store) != acknowledged[act.key] or await _end(store) != before:
            missing.append(act.key)
    return missing


async def _end(store: Store) -> int:
    return (await store.brief_state(None)).seq


def caring() -> list[Act]:
    """Derive everything anew, then write the whole file anew."""

    async def rebuild(store: Store) -> str:
        await store.rebuild()
        return ""

    async def scrub(store: Store) -> str:
        assert (await store.scrub()).owed is None
        return ""

    return [Act("rebuild", rebuild, is_note=True), Act("scrub", scrub, is_note=True)]
