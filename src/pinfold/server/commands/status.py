"""The store at a glance, and what of a model's window pinfold takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pinfold.context.budget import HistoryBudget, window_of
from pinfold.context.visible import size_text
from pinfold.server.clients import claude_code
from pinfold.server.commands.asking import brief_now
from pinfold.server.commands.listings import when
from pinfold.server.commands.reports import ask
from pinfold.server.commands.tables import Report
from pinfold.server.settings import Settings
from pinfold.store import Store
from pinfold.store.results import BriefState, Fold, StoreStatus

_COLUMNS = ("", "")


@dataclass(frozen=True, slots=True)
class Model:
    """For which client and model the budget is; `window` (tokens) overrides what is known of it."""

    client: str | None = None
    name: str | None = None
    window: int | None = None


def status_report(settings: Settings, model: Model) -> Report:
    """Return counts, places, what was last heard of hooks and folds, and the budget of a window."""

    async def question(store: Store) -> Report:
        found = await store.status()
        folds = await store.folds(None, 1)
        budget = budget_of(model, found, *await brief_now(store))
        last = folds[0] if folds else None
        facts = asdict(found) | {
            "folds": last.number if last else 0,
            "last_fold": {"pointer": last.pointer, "at": last.at} if last else None,
            "root": str(settings.project.root),
            "budget": _facts(budget),
        }
        return Report(facts, _COLUMNS, [*_store_rows(settings, found, last), *_budget_rows(budget)])

    return ask(settings, question)


def budget_of(model: Model, found: StoreStatus, state: BriefState, brief: str) -> HistoryBudget:
    """Count what pinfold takes of the window of the client asked for, else of the one in whose shell this runs.

    `brief` is the brief's text, and `state` what it is made from.
    """
    from pinfold.context.tokens import count
    from pinfold.tools.price import catalogue_tokens, instructions_tokens

    here = claude_code.NAME if claude_code.conversation(os.environ) else found.client
    name = model.name or (None if model.client else found.model)
    return HistoryBudget(
        window_of(model.client or here, name, model.window),
        tools=catalogue_tokens() + instructions_tokens(),
        brief=count(brief),
        pins=sum(pin.tokens for pin in state.pins if pin.superseded_by is None),
    )


def _facts(budget: HistoryBudget) -> dict[str, Any]:
    window = budget.window
    return {
        "client": window.client,
        "model": window.model,
        "window": window.tokens,
        "assumed": window.assumed,
        "output_reserve": window.habit.output_reserve,
        "client_prompt_and_tools": window.habit.own_tokens,
        "safety_margin": window.margin,
        "pinfold_tools": budget.tools,
        "history": budget.history,
        "brief": budget.brief,
        "pins": budget.pins,
    }


def _store_rows(settings: Settings, found: StoreStatus, last: Fold | None) -> Iterator[tuple[str, str]]:
    yield "project", f"{found.project} ({settings.project.root})"
    yield "store", f"{found.location} ({size_text(found.size_bytes)})"
    yield "events", f"{found.events:,}"
    yield "sessions", f"{found.sessions:,}"
    yield "pins", f"{found.live_pins:,}"
    beside = f" ({found.aside:,} of them from transcripts, which no brief lists)" if found.aside else ""
    yield "artifacts", f"{found.artifacts:,}{beside}"
    yield "checkpoints", f"{found.checkpoints:,}"
    yield "last fold", f"{last.pointer}, {when(last.at)} UTC" if last else "none"
    yield "hooks", "; ".join(_heard(found)) or "none heard yet"
    yield "engine", f"{found.engine}, journal {found.journal}"
    if found.read_only:
        yield "read-only", found.read_only


def _heard(found: StoreStatus) -> Iterator[str]:
    return (f"{client} last heard {when(at)} UTC" for client, at in found.hooks.items())


def _budget_rows(budget: HistoryBudget) -> Iterator[tuple[str, str]]:
    window = budget.window
    origin = ", ".join(part for part in (window.client, window.model, window.assumed and "assumed") if part)
    yield "window", f"{window.tokens:,} tokens" + (f" ({origin})" if origin else "")
    yield "- output reserve", f"{window.habit.output_reserve:,}"
    yield "- client's prompt and tools", f"{window.habit.own_tokens:,}"
    yield "- pinfold's tools", _shared(budget, budget.tools)
    yield "- safety margin", f"{window.margin:,}"
    yield "= left for history", _shared(budget, budget.history)
    yield "brief, part of that", _shared(budget, budget.brief)
    yield "pins, part of the brief", _shared(budget, budget.pins)


def _shared(budget: HistoryBudget, tokens: int) -> str:
    return f"{tokens:,} ({budget.share(tokens):.2%} of the window)"
