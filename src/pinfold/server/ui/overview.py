"""The first page: what pinfold takes of a model's window, how much there is, what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pinfold.context.brief import DEFAULT_BUDGET
from pinfold.context.budget import HistoryBudget
from pinfold.context.visible import counted
from pinfold.server.commands.asking import brief_now
from pinfold.server.commands.status import Model, budget_of
from pinfold.server.ui.folds import charts
from pinfold.server.ui.looking import Look, Page
from pinfold.store.results import Pin
from pinfold.store.values import BRIEF_ORDER

_NEWEST = 6
_FOLDS = 30
_TONES = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Share:
    """One part of a bar: tokens, where it begins and how wide it is in percent of the bar, and its colour."""

    name: str
    tokens: int
    left: float
    width: float
    tone: str


async def show(look: Look) -> Page:
    """Show the overview."""
    store = look.store
    status = await store.status()
    state, brief = await brief_now(store)
    budget = budget_of(Model(), status, state, brief)
    folds = await store.folds(None, _FOLDS)
    standing = [pin for pin in state.pins if pin.superseded_by is None]
    facts = {
        "status": status,
        "budget": budget,
        "window": bar(_window_parts(budget), budget.window.tokens),
        "brief": bar(_brief_parts(budget, standing), max(DEFAULT_BUDGET.tokens, budget.brief)),
        "most": DEFAULT_BUDGET.tokens,
        "last_fold": folds[0] if folds else None,
        "misses": bool(await store.misses(None, 1)),
        "charts": list(charts(folds)),
        "pins": await store.pins(None, _NEWEST),
        "checkpoint": state.checkpoint,
        "artifacts": state.artifacts[:_NEWEST],
        "sessions": await store.sessions(None, _NEWEST),
    }
    return Page("overview.html", "Overview", facts, "", has_charts=True)


def _window_parts(budget: HistoryBudget) -> Iterator[tuple[str, int, str]]:
    window = budget.window
    yield "client's prompt and tools", window.habit.own_tokens, "plain"
    yield "pinfold's tools", budget.tools, "second"
    yield "brief", min(budget.brief, budget.history), "first"
    yield "left for history", max(0, budget.history - budget.brief), "third"
    yield "safety margin", window.margin, "plain"
    yield "output reserve", window.habit.output_reserve, "plain"


def _brief_parts(budget: HistoryBudget, standing: list[Pin]) -> Iterator[tuple[str, int, str]]:
    """Yield the pins by kind, in the order in which the brief has them, and what else stands in it."""
    shown = 0
    for kind, tone in zip(BRIEF_ORDER, _TONES, strict=True):
        of_kind = [pin for pin in standing if pin.kind is kind]
        tokens = min(sum(pin.tokens for pin in of_kind), budget.brief - shown)
        shown += tokens
        yield counted(len(of_kind), kind.value.replace("_", " ")), tokens, tone
    yield "state, artifacts, last fold", budget.brief - shown, "plain"
    yield "free", max(0, DEFAULT_BUDGET.tokens - budget.brief), "free"


def bar(parts: Iterable[tuple[str, int, str]], total: int) -> list[Share]:
    """Return parts side by side, from the left; what goes beyond the total is cut at the end."""
    placed: list[Share] = []
    left = 0.0
    for name, tokens, tone in parts:
        width = min(100 - left, 100 * tokens / total)
        placed.append(Share(name, tokens, round(left, 3), round(width, 3), tone))
        left += width
    return placed
