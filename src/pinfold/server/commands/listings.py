"""The plain listings, newest first: pins, artifacts, checkpoints, misses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pinfold.context.visible import size_text
from pinfold.server.commands.asking import everything
from pinfold.server.commands.reports import ask
from pinfold.server.commands.tables import Report
from pinfold.server.settings import Settings
from pinfold.store import Store
from pinfold.store.results import Artifact, Checkpoint, Pin
from pinfold.store.search_results import SearchRecord

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)
else:
    T = TypeVar("T")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Kind(Generic[T]):
    """One sort of thing: how it is read, what its next page is asked for with, and its cells, pointer first."""

    name: str
    columns: tuple[str, ...]
    read: Callable[[Store], Callable[[int | None, int], Awaitable[tuple[T, ...]]]]
    number: Callable[[T], int]
    cells: Callable[[T], tuple[str, ...]]


def pins_report(settings: Settings, limit: int | None, *, superseded: bool) -> Report:
    """Return the newest `limit` (None: all) of the pins that stand, with `superseded` of all."""
    return _report(settings, _PINS, limit, lambda pin: superseded or pin.superseded_by is None)


def artifacts_report(settings: Settings, limit: int | None) -> Report:
    """Return the newest `limit` artifacts."""
    return _report(settings, _ARTIFACTS, limit)


def checkpoints_report(settings: Settings, limit: int | None) -> Report:
    """Return the newest `limit` checkpoints."""
    return _report(settings, _CHECKPOINTS, limit)


def misses_report(settings: Settings, limit: int | None) -> Report:
    """Return the newest `limit` searches that missed, decisions against a dead end among them."""
    return _report(settings, _MISSES, limit)


def _report(
    settings: Settings, kind: _Kind[T], limit: int | None, wanted: Callable[[T], bool] = lambda _: True
) -> Report:
    async def question(store: Store) -> Report:
        found = [each for each in await everything(kind.read(store), kind.number) if wanted(each)]
        rows = [kind.cells(each) for each in found[:limit]]
        items: list[dict[str, Any]] = [
            {"pointer": row[0] or None} | asdict(each) for row, each in zip(rows, found, strict=False)
        ]
        facts = {"project": store.project, kind.name: items, "more": len(found) - len(rows)}
        return Report(facts, kind.columns, rows, remark(kind.name, found, rows))

    return ask(settings, question)


def remark(name: str, found: Sequence[V], rows: Sequence[tuple[str, ...]]) -> str:
    """Return what is to be said beside the rows: how many more there are, or that there are none."""
    left = len(found) - len(rows)
    return f"{left:,} more; --all shows them." if left else "" if rows else f"No {name} yet."


def when(at: str) -> str:
    """Return an instant to the minute."""
    return f"{at[:10]} {at[11:16]}"


def _pin(pin: Pin) -> tuple[str, ...]:
    session = f"s{pin.session} only" if pin.session_only else f"s{pin.session}"
    by = f"P{pin.superseded_by}" if pin.superseded_by else ""
    return pin.pointer, pin.kind.value, pin.text, pin.why, when(pin.at), session, by


def _artifact(artifact: Artifact) -> tuple[str, ...]:
    return (
        artifact.pointer,
        artifact.label or artifact.source or artifact.path or "",
        artifact.outline.media_type,
        size_text(artifact.size_bytes),
        str(artifact.lines),
        when(artifact.at),
        f"s{artifact.session}",
    )


def _checkpoint(checkpoint: Checkpoint) -> tuple[str, ...]:
    return (
        checkpoint.pointer,
        checkpoint.goal,
        checkpoint.next_step,
        str(len(checkpoint.pending)),
        when(checkpoint.at),
        f"s{checkpoint.session}",
    )


def _miss(miss: SearchRecord) -> tuple[str, ...]:
    pointer = f"S{miss.number}" if miss.number else ""
    gave = ", ".join(miss.hits)
    by = "a person" if miss.by_person else ""
    return (
        pointer,
        miss.query,
        miss.missed or "",
        gave,
        miss.answer or "",
        when(miss.at),
        f"s{miss.session}",
        by,
    )


_PINS: _Kind[Pin] = _Kind(
    "pins",
    ("pin", "kind", "text", "why", "when (UTC)", "session", "superseded by"),
    attrgetter("pins"),
    attrgetter("number"),
    _pin,
)
_ARTIFACTS: _Kind[Artifact] = _Kind(
    "artifacts",
    ("artifact", "label", "type", "size", "lines", "when (UTC)", "session"),
    attrgetter("artifacts"),
    attrgetter("number"),
    _artifact,
)
_CHECKPOINTS: _Kind[Checkpoint] = _Kind(
    "checkpoints",
    ("checkpoint", "goal", "next step", "pending", "when (UTC)", "session"),
    attrgetter("checkpoints"),
    attrgetter("number"),
    _checkpoint,
)
_MISSES: _Kind[SearchRecord] = _Kind(
    "misses",
    ("search", "query", "why", "gave", "answer", "when (UTC)", "session", "by"),
    attrgetter("misses"),
    lambda miss: miss.seq or 0,
    _miss,
)
