"""The first page: what pinfold takes of a model's window, how much there is, what is new."""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.context.budget import HistoryBudget
from pinfold.server.commands.status import Model, budget_of
from pinfold.server.ui.folds import charts
from pinfold.server.ui.looking import Look, Page

_NEWEST = 6
_FOLDS = 30


@dataclass(frozen=True, slots=True)
class Share:
    """One part of the window: tokens, where it begins and how wide it is in percent, and its colour."""

    name: str
    tokens: int
    left: float
    width: float
    tone: str


async def show(look: Look) -> Page:
    """Show the overview."""
    store = look.store
    status = await store.status()
    budget = await budget_of(store, Model(), status)
    folds = await store.folds(None, _FOLDS)
    newest = await store.checkpoints(None, 1)
    facts = {
        "status": status,
        "budget": budget,
        "shares": shares(budget),
        "last_fold": folds[0] if folds else None,
        "misses": bool(await store.misses(None, 1)),
        "charts": list(charts(folds)),
        "pins": await store.pins(None, _NEWEST),
        "checkpoint": newest[0] if newest else None,
        "artifacts": await store.artifacts(None, _NEWEST),
        "sessions": await store.sessions(None, _NEWEST),
    }
    return Page("overview.html", "Overview", facts, "", has_charts=True)


def shares(budget: HistoryBudget) -> list[Share]:
    """Return the parts of a window from its left to its right; what overflows it is cut at its end."""
    window = budget.window
    parts = (
        ("client's prompt and tools", window.habit.own_tokens, "plain"),
        ("pinfold's tools", budget.tools, "second"),
        ("brief", min(budget.brief, budget.history), "first"),
        ("left for history", max(0, budget.history - budget.brief), "third"),
        ("safety margin", window.margin, "plain"),
        ("output reserve", window.habit.output_reserve, "plain"),
    )
    placed: list[Share] = []
    left = 0.0
    for name, tokens, tone in parts:
        width = min(100 - left, 100 * budget.share(tokens))
        placed.append(Share(name, tokens, round(left, 3), round(width, 3), tone))
        left += width
    return placed
