"""Short ways to say what a caller does, shared by the contract tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pinfold.store import Store
from pinfold.store.commands import (
    CheckpointState,
    Message,
    Outline,
    PinDecision,
    SearchHistory,
    SpillArtifact,
)
from pinfold.store.content import collect
from pinfold.store.results import PinnedDecision, SavedCheckpoint, SpilledArtifact
from pinfold.store.search_results import SearchPage
from pinfold.store.values import Caller

ANNA = Caller("claude-code", "anna")
BEN = Caller("codex", "ben")
OUTLINE = Outline(media_type="text/plain", preview="first line", tokens=7)


async def pin(
    store: Store, text: str, caller: Caller = ANNA, why: str = "measured", **more: Any
) -> PinnedDecision:
    return await store.pin_decision(PinDecision(caller, text, why, tokens=5, **more))


async def spill(store: Store, content: bytes, caller: Caller = ANNA, **more: Any) -> SpilledArtifact:
    return await spill_blocks(store, [content], caller, **more)


async def spill_blocks(
    store: Store, blocks: Iterable[bytes], caller: Caller = ANNA, **more: Any
) -> SpilledArtifact:
    held = collect(blocks)
    try:
        return await store.spill_artifact(SpillArtifact(caller, held, OUTLINE, **more))
    finally:
        held.close()


async def checkpoint(store: Store, caller: Caller = ANNA, **state: Any) -> SavedCheckpoint:
    return await store.checkpoint_state(CheckpointState(caller, **state))


async def say(store: Store, *texts: str, caller: Caller = ANNA) -> list[str]:
    """Append user messages and return their pointers."""
    outcome = await store.append_messages(caller, [Message("user", text) for text in texts])
    return [f"H{seq}" for seq in range(outcome.last_seq - len(texts) + 1, outcome.last_seq + 1)]


async def find(store: Store, query: str, caller: Caller = ANNA, **more: Any) -> SearchPage:
    return await store.search_history(SearchHistory(caller, query, **more))
