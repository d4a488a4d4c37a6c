"""What each compaction took, and what of it the pins give back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from pinfold.context.recall import absent
from pinfold.server.commands.asking import brief_now, everything
from pinfold.server.commands.listings import remark, when
from pinfold.server.commands.reports import ask
from pinfold.server.commands.tables import Report
from pinfold.server.settings import Settings
from pinfold.store import Store
from pinfold.store.results import Fold, Pin

_COLUMNS = (
    "fold",
    "when (UTC)",
    "session",
    "tokens",
    "reduction",
    "kept",
    "lost",
    "in the brief",
    "not pinned",
)
_NONE = (
    "No folds yet: none of this project's conversations was compacted, or no hook told pinfold of it"
    " (pinfold status says when one was last heard)."
)


def folds_report(settings: Settings, limit: int | None) -> Report:
    """Return the newest `limit` (None: all) folds, and for each lost specific whether the brief shows it now."""

    async def question(store: Store) -> Report:
        found = await everything(store.folds, attrgetter("number"))
        pins = {pin.number: pin for pin in await everything(store.pins, attrgetter("number"))}
        brief = (await brief_now(store))[1]
        shown = found[:limit]
        rows = [_row(fold, pins, brief) for fold in shown]
        facts = {
            "project": store.project,
            "folds": [_facts(fold, pins, brief) for fold in shown],
            "more": len(found) - len(shown),
        }
        return Report(facts, _COLUMNS, rows, remark("folds", found, rows) if rows else _NONE)

    return ask(settings, question)


def reduction(fold: Fold) -> float | None:
    """Return the share of tokens that a fold took away, 0 to 1; None where its sizes are not known."""
    if not fold.tokens_before or fold.tokens_after is None:
        return None
    return 1 - fold.tokens_after / fold.tokens_before


def kept_of(fold: Fold) -> tuple[int, int]:
    """Return how many specifics of pins a summary still held, and how many stood before the fold."""
    present = sum(fold.present.values())
    return present - sum(map(len, fold.lost.values())), present


def _facts(fold: Fold, pins: Mapping[int, Pin], brief: str) -> dict[str, Any]:
    kept, present = kept_of(fold)
    taken = reduction(fold)
    return {
        "pointer": fold.pointer,
        "at": fold.at,
        "session": fold.session,
        "trigger": fold.trigger,
        "tokens_before": fold.tokens_before,
        "tokens_after": fold.tokens_after,
        "reduction": None if taken is None else round(taken, 4),
        "messages": fold.messages,
        "summary": f"A{fold.summary}" if fold.summary else None,
        "present": present,
        "kept": kept,
        "lost": [_lost(number, parts, pins.get(number), brief) for number, parts in fold.lost.items()],
        "offered": [list(pair) for pair in fold.offered],
        "strings": [list(pair) for pair in fold.strings],
    }


def _lost(number: int, parts: tuple[str, ...], pin: Pin | None, brief: str) -> dict[str, Any]:
    by = pin.superseded_by if pin else None
    missing = absent(parts, brief)
    return {
        "pin": f"P{number}",
        "specifics": list(parts),
        "in_brief": [part for part in parts if part not in missing],
        "superseded_by": f"P{by}" if by else None,
        "session_only": pin.session if pin and pin.session_only else None,
    }


def _row(fold: Fold, pins: Mapping[int, Pin], brief: str) -> tuple[str, ...]:
    kept, present = kept_of(fold)
    taken = reduction(fold)
    back = "; ".join(_back(number, parts, pins.get(number), brief) for number, parts in fold.lost.items())
    return (
        fold.pointer,
        when(fold.at),
        f"s{fold.session}",
        " -> ".join(_sizes(fold)),
        "" if taken is None else f"{taken:.0%}",
        f"{kept} of {present}" if present else "",
        "; ".join(f"P{number}: {', '.join(parts)}" for number, parts in fold.lost.items()),
        back,
        ", ".join(pointer for pointer, _ in fold.offered),
    )


def _sizes(fold: Fold) -> Iterator[str]:
    if fold.tokens_before is not None:
        yield f"{fold.tokens_before:,}"
    if fold.tokens_after is not None:
        yield f"{fold.tokens_after:,}"


def _back(number: int, parts: tuple[str, ...], pin: Pin | None, brief: str) -> str:
    """Say whether the brief shows again what a summary lost of a pin, and why not, if not."""
    if pin and pin.superseded_by:
        return f"P{number} superseded by P{pin.superseded_by}"
    shown = len(parts) - len(absent(parts, brief))
    only = f" (session {pin.session} only)" if pin and pin.session_only else ""
    return f"P{number} {shown} of {len(parts)}{only}"
