"""The verbs of the contract as they travel: what each takes and gives, read off the signatures of `Store`.

No verb is written down twice: one that is added to the contract travels. Source: docs/decisions/0017.
"""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Annotated, Any, get_type_hints

from pydantic import ConfigDict, PlainSerializer, PlainValidator, TypeAdapter

from pinfold.store import (
    Progress,
    Store,
    commands,
    forgetting,
    logged,
    results,
    search_results,
    session_results,
    values,
)
from pinfold.store.content import Content
from pinfold.store.remote.parts import described, received
from pinfold.store.results import Artifact, ArtifactSlice

PART_BYTES = 1024 * 1024
"""How much of an artifact is scanned by one request."""

REPEATABLE = frozenset(
    "artifact artifact_bytes artifact_lines artifacts brief_state checkpoint checkpoints entry fold folded_part folds"
    " forget_plan log_end logged misses note_opened pin pins scan_artifact search_history search_record sessions"
    " stale_views status transcript_mark transcripts verify receive".split()
)
"""Verbs that are asked again when a connection breaks: a second time leaves nothing behind that matters."""

_CARE = frozenset({"forget", "rebuild", "scrub"})
"""Verbs that change what is there, and bring nothing along: a text to be forgotten may be a secret."""

_HERE = frozenset({"fence", "close"})
"""What a client does by itself."""

_STAYS = frozenset({"progress", "visit"})
"""Arguments that are called meanwhile, and do not travel."""

VERBS = Store.__abstractmethods__ - _HERE


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: `arguments` go as a list in the order of its signature, the result as a list of one."""

    name: str
    signature: inspect.Signature
    arguments: TypeAdapter[tuple[Any, ...]]
    result: TypeAdapter[tuple[Any]]

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be asked a second time without the caller's knowing."""
        return self.name in REPEATABLE

    @property
    def brings(self) -> bool:
        """Whether it brings along what is kept, so that secrets in it stay behind."""
        return not self.is_repeatable and self.name not in _CARE

    @property
    def tells_progress(self) -> bool:
        """Whether it takes long, and says how far it is."""
        return "progress" in self.signature.parameters

    def travelling(self, *given: Any, **named: Any) -> tuple[Any, ...]:
        """Return the arguments of a call that travel, those that were not given as well."""
        bound = self.signature.bind(*given, **named)
        bound.apply_defaults()
        travels = (value for name, value in bound.arguments.items() if name not in _STAYS)
        return tuple(tuple(value) if isinstance(value, list) else value for value in travels)

    async def carry_out(self, store: Store, given: tuple[Any, ...], progress: Progress) -> Any:
        """Call a store with arguments that have come."""
        names = (name for name in self.signature.parameters if name not in _STAYS)
        named = dict(zip(names, given, strict=True))
        if self.tells_progress:
            named["progress"] = progress
        if self.name in INSTEAD:
            return await INSTEAD[self.name](store, **named)
        return await getattr(store, self.name)(**named)


async def scan_artifact(store: Store, number: int, start: int) -> tuple[Artifact, tuple[ArtifactSlice, ...]]:
    """Return an artifact and its chunks from the one that holds `start` on, about `PART_BYTES` of them."""
    found: list[ArtifactSlice] = []

    def visit(part: ArtifactSlice) -> bool:
        found.append(part)
        return part.stop - found[0].start < PART_BYTES

    artifact = await store.scan_artifact(number, start, visit)
    return artifact, tuple(found)


INSTEAD: dict[str, Callable[..., Awaitable[Any]]] = {"scan_artifact": scan_artifact}
"""What is carried out where a verb calls back for each piece."""


@cache
def verb(name: str) -> Verb:
    """Return the verb of that name; raises `KeyError` for what is none."""
    if name not in VERBS:
        raise KeyError(name)
    function = INSTEAD.get(name, getattr(Store, name))
    hints = get_type_hints(function, _words())
    signature = inspect.signature(function)
    signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    travels = [hints[each] for each in signature.parameters if each not in _STAYS]
    return Verb(name, signature, _adapter(*travels), _adapter(hints["return"]))


def _adapter(*kinds: Any) -> TypeAdapter[Any]:
    listed = tuple[kinds] if kinds else tuple[()]  # type: ignore[valid-type]
    config = ConfigDict(defer_build=True, ser_json_bytes="base64", val_json_bytes="base64")
    adapter: TypeAdapter[Any] = TypeAdapter(listed, config=config)
    adapter.rebuild(_types_namespace=_words())
    return adapter


@cache
def _words() -> dict[str, Any]:
    """Return what the names in the contract's signatures and in its dataclasses mean, bytes apart.

    A module of results that the contract gets later is named here: the test of all verbs says so.
    """
    rooms: tuple[ModuleType, ...] = (
        collections.abc,
        commands,
        forgetting,
        logged,
        results,
        search_results,
        session_results,
        values,
    )
    words = {name: value for room in rooms for name, value in vars(room).items()}
    apart = Annotated[Content, PlainValidator(received), PlainSerializer(described)]
    return words | {"Store": Store, "Content": apart, "Progress": Callable[[int, int], None]}
