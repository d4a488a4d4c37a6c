"""Where a repository stands, in words: beside a checkpoint, and when it has moved since."""

from __future__ import annotations

from pinfold.context.quoting import quoted
from pinfold.store.results import BriefState
from pinfold.store.values import Caller

_BRANCH_CHARS = 80
_HEAD_CHARS = 12


def spot(branch: str | None, head: str) -> str:
    """Return where a repository stands, e.g. `"main" 0123456789ab`."""
    return f"{quoted(branch, _BRANCH_CHARS)} {head[:_HEAD_CHARS]}" if branch else head[:_HEAD_CHARS]


def moved_since(state: BriefState, caller: Caller) -> str | None:
    """Say so when the repository is not where the brief's checkpoint was saved."""
    saved = state.checkpoint
    if saved is None or not saved.head or not caller.head:
        return None
    if (saved.head, saved.branch) == (caller.head, caller.branch):
        return None
    then, now = spot(saved.branch, saved.head), spot(caller.branch, caller.head)
    return f"The repository has moved since {saved.pointer}: it was at {then}, it is at {now}."
