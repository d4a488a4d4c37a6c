"""The page of `pinfold replay`: each request as said, as its client folded it and as projected; folds; costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinfold.context.lab.replayed import FoldMade, Replayed, Sent
from pinfold.server.commands.cost_charts import costs_of
from pinfold.server.commands.replay_report import Seen
from pinfold.server.pages.charts import Chart, Series
from pinfold.server.pages.rendering import render_file

MOST_POINTS = 240
"""Of a line; more requests than that share points."""

MOST_FOLDS = 120
_MILLIONS = 10_000_000
_DWARFED = 3
"""How many times the client's largest request raw may be before the others get a drawing without it."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A fold as the page lists it: whose, which of theirs, and what it did."""

    whose: str
    number: int
    fold: FoldMade

    @property
    def name(self) -> str:
        return f"{self.whose} {self.number}"


def replay_page(seen: Seen) -> str:
    """Return a self-contained page."""
    replayed = seen.played.replayed
    folds = [*_rows("client", replayed.client_folds), *_rows("policy", replayed.folds)]
    facts = {
        "path": str(seen.path),
        "name": seen.path.name,
        "seen": seen,
        "replayed": replayed,
        "rounded": {kind: _rounded(tokens) for kind, tokens in replayed.totals.items()},
        "requests": list(request_charts(replayed)),
        "folds": folds[:MOST_FOLDS],
        "folds_left_out": len(folds[MOST_FOLDS:]),
        "lost": _lost(folds[:MOST_FOLDS]),
        "won": _won(replayed),
        "costs": None if seen.paid is None else costs_of(seen.paid),
    }
    return render_file("replay.html", facts)


def _rows(whose: str, folds: Sequence[FoldMade]) -> Iterator[_Row]:
    for number, each in enumerate(folds, start=1):
        yield _Row(whose, number, each)


def request_charts(replayed: Replayed) -> Iterator[Chart]:
    """Yield what each request sent again, at most `MOST_POINTS` points, and once more without raw if that dwarfs it."""
    size = -(-len(replayed.sent) // MOST_POINTS)
    groups = [replayed.sent[start : start + size] for start in range(0, len(replayed.sent), size)]
    labels = [_span(number * size, len(group)) for number, group in enumerate(groups)]
    points = "" if size == 1 else f"; each point is the largest of {size} requests"
    raw = Series("raw", [max(each.raw for each in group) for group in groups], "third")
    others = tuple(_sent_by(groups))
    title = f"Tokens sent again with each request{points}"
    yield Chart("requests", title, labels, (raw, *others), kind="line", unit="tokens")
    if replayed.largest["raw"] > _DWARFED * max(replayed.largest["client"], replayed.largest["projected"]):
        yield Chart("without-raw", "The same without raw", labels, others, kind="line", unit="tokens")


def _sent_by(groups: Sequence[Sequence[Sent]]) -> Iterator[Series]:
    yield Series("client", [max(each.client for each in group) for group in groups], "second")
    yield Series("projected", [max(each.projected for each in group) for group in groups])
    told = [
        max((each.reported for each in group if each.reported is not None), default=None) for group in groups
    ]
    if any(each is not None for each in told):
        yield Series("reported", told, "fourth")


def _span(start: int, length: int) -> str:
    return f"{start + 1:,}" if length == 1 else f"{start + 1:,}–{start + length:,}"


def _lost(folds: Sequence[_Row]) -> Chart:
    losses = [each.fold.loss for each in folds]
    kept = [None if loss is None else loss.had - loss.lost for loss in losses]
    lost = [None if loss is None else loss.lost for loss in losses]
    title = "Specifics that each fold kept and lost: numbers, names, paths, versions of what was said"
    series = (Series("kept", kept, "kept"), Series("lost", lost, "lost"))
    return Chart("lost", title, [each.name for each in folds], series, unit="specifics", is_stacked=True)


def _won(replayed: Replayed) -> Chart | None:
    if not any(won.count for won in replayed.won.values()):
        return None
    values = [won.tokens for won in replayed.won.values()]
    title = "Tokens that the milder strategies took out of later requests"
    return Chart("won", title, list(replayed.won), (Series("tokens", values, "third"),), unit="tokens")


def _rounded(tokens: int) -> str:
    """Return a number that fits where little room is."""
    return f"{tokens / 1e6:,.1f} M" if tokens >= _MILLIONS else f"{tokens:,}"
