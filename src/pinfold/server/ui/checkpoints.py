"""Checkpoints: all of them, and one beside another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from pinfold.server.ui.looking import Look, Page, is_number, part
from pinfold.store import Store
from pinfold.store.errors import InvalidInputError
from pinfold.store.results import Checkpoint

_LISTS = ("pending", "done", "facts", "constraints", "files")
_NEARBY = 50


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of the state: what only this checkpoint says, what only the other one said, what both say."""

    name: str
    added: tuple[str, ...]
    gone: tuple[str, ...]
    kept: tuple[str, ...]


async def listing(look: Look) -> Page:
    """Show the checkpoints, newest first."""
    found = await part(look.store.checkpoints, look, attrgetter("number"))
    return Page("checkpoints.html", "Checkpoints", {"checkpoints": found}, "checkpoints")


async def one(look: Look) -> Page:
    """Show a checkpoint, and what changed since the one that `against` names: else the one before in its session."""
    checkpoint = await look.store.checkpoint(look.number)
    other = await _other(look, checkpoint)
    facts = {"checkpoint": checkpoint, "other": other, "differences": list(differences(other, checkpoint))}
    return Page("checkpoint.html", f"{checkpoint.pointer}, a checkpoint", facts, "checkpoints")


async def _other(look: Look, checkpoint: Checkpoint) -> Checkpoint | None:
    named = look.text("against").upper().removeprefix("C")
    if not named:
        return await _before(look.store, checkpoint)
    if not is_number(named):
        raise InvalidInputError("Only checkpoints can be compared.", "Name one, e.g. C3.")
    return await look.store.checkpoint(int(named))


async def _before(store: Store, checkpoint: Checkpoint) -> Checkpoint | None:
    earlier = await store.checkpoints(checkpoint.number, _NEARBY)
    return next((each for each in earlier if each.session == checkpoint.session), None)


def differences(other: Checkpoint | None, now: Checkpoint) -> Iterator[Difference]:
    """Yield those parts of the state in which either checkpoint says something."""
    for name in ("goal", "next_step", *_LISTS):
        old, new = _items(other, name) if other else (), _items(now, name)
        if old or new:
            added = tuple(item for item in new if item not in old)
            gone = tuple(item for item in old if item not in new)
            yield Difference(name, added, gone, tuple(item for item in new if item in old))


def _items(checkpoint: Checkpoint, name: str) -> tuple[str, ...]:
    found = getattr(checkpoint, name)
    return found if isinstance(found, tuple) else (found,) if found else ()
