"""A store as a token sees it that may only read: whatever is not known to leave the log alone is refused.

Source: P27.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, cast

from pinfold.store import Store
from pinfold.store.commands import SearchHistory
from pinfold.store.errors import ReadOnlyError
from pinfold.store.search_results import SearchPage
from pinfold.store.values import Caller, Pointer

READS = frozenset(
    {
        "project",
        "redactor",
        "fence",
        "brief_state",
        "folded_part",
        "transcript_mark",
        "transcripts",
        "pin",
        "artifact",
        "artifact_bytes",
        "artifact_lines",
        "scan_artifact",
        "checkpoint",
        "entry",
        "fold",
        "search_record",
        "pins",
        "artifacts",
        "checkpoints",
        "folds",
        "misses",
        "status",
        "log_end",
        "logged",
    }
)
"""What passes as it is. Care of a store (`verify`, `stale_views`) costs a copy of it: a token that writes may ask."""


def reading_only(store: Store) -> Store:
    """Return the store without its writes; a verb that the contract gets later is refused until `READS` names it."""
    return cast(Store, _ReadingOnly(store))


class _ReadingOnly:
    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name) if name in READS else _refuse()

    async def search_history(self, query: SearchHistory) -> SearchPage:
        """Search without noting what was asked, nor that it missed."""
        if query.missed is not None:
            _refuse()
        return await self._store.search_history(replace(query, recorded=False))

    async def note_opened(self, caller: Caller, pointer: Pointer) -> None:
        """Note nothing."""


def _refuse() -> NoReturn:
    raise ReadOnlyError("this token may only read", "Ask whoever gave it to you for one that may write.")
