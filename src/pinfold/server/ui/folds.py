"""Folds: what each took, and what its summary lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from pinfold.context.recall import absent
from pinfold.server.commands.asking import brief_now
from pinfold.server.commands.folds import kept_of, reduction
from pinfold.server.pages.charts import Chart, Series
from pinfold.server.ui.looking import Look, Page, part
from pinfold.store import Store
from pinfold.store.errors import NotFoundError
from pinfold.store.results import Fold, Pin


@dataclass(frozen=True, slots=True)
class Loss:
    """What a summary dropped of a pin (None: it was forgotten since); `missing` is what the brief lacks now, too."""

    number: int
    specifics: tuple[str, ...]
    pin: Pin | None
    missing: tuple[str, ...]


async def listing(look: Look) -> Page:
    """Show the folds, newest first, and as charts in the order in which they happened."""
    found = await part(look.store.folds, look, attrgetter("number"))
    rows = [(fold, reduction(fold), kept_of(fold)) for fold in found.shown]
    facts = {"folds": found, "rows": rows, "charts": list(charts(found.shown))}
    return Page("folds.html", "Folds", facts, "folds", has_charts=True)


def charts(newest_first: tuple[Fold, ...]) -> Iterator[Chart]:
    """Yield what can be seen of several folds: their sizes, and what they lost."""
    folds = newest_first[::-1]
    names = [fold.pointer for fold in folds]
    sized = [fold for fold in folds if fold.tokens_before is not None]
    if sized:
        pointers = [fold.pointer for fold in sized]
        before = Series("before", [fold.tokens_before for fold in sized], "first")
        after = Series("after", [fold.tokens_after for fold in sized], "second")
        title = "Tokens in the window before and after each fold"
        yield Chart("sizes", title, pointers, (before, after), unit="tokens", links=pointers)
    if any(fold.present for fold in folds):
        kept = [kept_of(fold) for fold in folds]
        title = "Specifics of pins that each summary kept and lost"
        series = (
            Series("kept", [left for left, _ in kept], "kept"),
            Series("lost", [present - left for left, present in kept], "lost"),
        )
        yield Chart("losses", title, names, series, is_stacked=True, links=names)


async def one(look: Look) -> Page:
    """Show a fold: what went in and came out, what it lost of each pin, and what was in play before it."""
    fold = await look.store.fold(look.number)
    brief = (await brief_now(look.store))[1]
    lost = [await _loss(look.store, number, parts, brief) for number, parts in sorted(fold.lost.items())]
    facts = {
        "fold": fold,
        "reduction": reduction(fold),
        "kept": kept_of(fold),
        "lost": lost,
        "untouched": [f"P{number}" for number in sorted(fold.present) if number not in fold.lost],
        "summary": await look.store.artifact(fold.summary) if fold.summary else None,
    }
    return Page("fold.html", f"{fold.pointer}, a compaction", facts, "folds")


async def _loss(store: Store, number: int, parts: tuple[str, ...], brief: str) -> Loss:
    try:
        pin = (await store.pin(number)).pin
    except NotFoundError:
        pin = None
    return Loss(number, parts, pin, tuple(absent(parts, brief)))
