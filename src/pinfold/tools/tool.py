"""What a tool is, what surrounds a call, and what a reply is; nothing here knows the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pinfold.context.brief import Budget
from pinfold.store import Store
from pinfold.store.values import MAX_ARTIFACT_BYTES, Caller
from pinfold.tools.arguments import Arguments
from pinfold.tools.files import Roots

WRITES: Mapping[str, bool] = MappingProxyType(
    {"read_only": False, "destructive": False, "idempotent": True, "open_world": False}
)
READS: Mapping[str, bool] = MappingProxyType(
    {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that configuration can move: bytes of one artifact, and the brief's budget."""

    artifact_bytes: int = MAX_ARTIFACT_BYTES
    brief: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Desk:
    """A call's surroundings: one project's store, who calls, which folders may be read, which limits hold."""

    store: Store
    caller: Caller
    roots: Roots
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Reply:
    """One outcome told twice: compact text, and the same facts with short keys and no nulls."""

    text: str
    structured: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `annotations` are hints in our words; `meta` goes out as the tool's `_meta`."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    annotations: Mapping[str, bool]
    run: Callable[[Desk, Any], Awaitable[Reply]]
    meta: Mapping[str, object] = field(default_factory=dict)
