"""What the laboratory found, as tables and as objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import anyio

from pinfold.context.lab.cost import STEPS, Cached, Load, Prices, cached, costs
from pinfold.context.lab.folding import Run, run
from pinfold.context.lab.script import estimate
from pinfold.context.projection import Summarizer, extractive
from pinfold.context.projection.policy import Size
from pinfold.context.tokens import count
from pinfold.server.commands.tables import Report
from pinfold.store.errors import InvalidInputError

_FOLD_COLUMNS = ("run", "fold", "before", "after", "lost")
_COST_COLUMNS = (
    "steps",
    "raw $",
    "digests $",
    "looked up $",
    "per step $",
    "raw, cached $",
    "rent per day $",
)


def fold_report(
    *, show_all: bool, summarizer: str, url: str | None, model: str | None, tokens: str
) -> Report:
    """Run the experiment without a pin and with one. Raises `InvalidInputError`, and what a chat endpoint does."""
    summarize = _summarizer(summarizer, url, model)
    size = count if tokens == "o200k" else estimate
    runs = anyio.run(_both, summarize, size)
    facts = {
        "summarizer": model or summarizer,
        "tokens": tokens,
        "runs": [asdict(each) | {"recall": f"{len(each.kept)}/{len(each.watched)}"} for each in runs],
    }
    return Report(facts, _FOLD_COLUMNS, [row for each in runs for row in _rows(each, show_all=show_all)])


async def _both(summarize: Summarizer, size: Size) -> list[Run]:
    return [await run(pinned=pinned, summarize=summarize, size=size) for pinned in (False, True)]


def _summarizer(name: str, url: str | None, model: str | None) -> Summarizer:
    if name == "extractive":
        if url or model:
            raise InvalidInputError(
                "--url and --model are for a model's summaries.", "Say --summarizer chat."
            )
        return extractive()
    if not (url and model):
        raise InvalidInputError("A chat summarizer needs an endpoint.", "Say --url and --model.")
    from pinfold.context.projection.chat import chat

    return chat(url, model)


def _rows(seen: Run, *, show_all: bool) -> Iterator[tuple[str, ...]]:
    name = "pinned" if seen.pinned else "no pin"
    for each in seen.folds:
        if each.lost or show_all:
            yield name, str(each.number), str(each.before), str(each.after), ", ".join(each.lost)
    recall = f"recall {len(seen.kept)}/{len(seen.watched)}"
    yield name, f"{len(seen.folds)} folds", "", str(seen.tokens), recall


def cost_report(steps: tuple[int, ...], prices: Prices, cache: Cached) -> Report:
    """Return the cost of each number of steps."""
    load = Load()
    rows, facts = [], []
    for number in steps or STEPS:
        found, kept = costs(number, prices, load), cached(number, prices, load, cache)
        facts.append(asdict(found) | {"lookup_per_step": found.lookup_per_step} | asdict(kept))
        money = (
            found.raw,
            found.digests,
            found.lookup,
            found.lookup_per_step,
            kept.raw_cached,
            kept.rent_per_day,
        )
        rows.append((f"{number}", *(f"{each:.4f}" if 0 < each < 0.1 else f"{each:.3f}" for each in money)))
    return Report({"prices": asdict(prices), "load": asdict(load), "runs": facts}, _COST_COLUMNS, rows)
