"""The commands `lab fold`, `lab cost` and `rent`: published experiments, and what a real transcript has cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pinfold.context.lab.cost import Cached, Prices
from pinfold.server.commands.page_file import page_file, told_of, with_page
from pinfold.server.commands.prices import MOST_SECONDS, priced
from pinfold.server.options import JSON, Command


@click.group()
def lab() -> None:
    """Repeat what was published about folds and their cost."""


@lab.command(cls=Command)
@click.option("--all", "show_all", is_flag=True, help="Also the folds that lost none of the watched words.")
@click.option(
    "--summarizer",
    type=click.Choice(("extractive", "chat")),
    default="extractive",
    show_default=True,
    help="The first words of each message, or a model's summary.",
)
@click.option(
    "--url", help="Of a chat endpoint (OpenAI's interface, Ollama has it too), for --summarizer chat."
)
@click.option("--model", help="The endpoint's name of the model.")
@click.option(
    "--tokens",
    type=click.Choice(("estimate", "o200k")),
    default="estimate",
    show_default=True,
    help="A quarter of the characters, or the real tokenizer.",
)
@JSON
def fold(*, show_all: bool, as_json: bool, **options: Any) -> None:
    """Fold a conversation of 122 messages again and again: what is left of its one decision, unpinned and pinned?

    In a pipe: run, fold, tokens before, after, words lost; a line each, and one for each run's end.
    """
    from pinfold.server.commands.lab_report import fold_report
    from pinfold.server.commands.tables import tell

    tell(fold_report(show_all=show_all, **options), as_json=as_json)


@lab.command(cls=Command)
@click.argument("steps", nargs=-1, type=click.IntRange(min=1, max=1_000_000))
@priced
@click.option(
    "--step-seconds",
    type=click.IntRange(1, MOST_SECONDS),
    default=30,
    show_default=True,
    help="From step to step.",
)
@click.option(
    "--resumes", type=click.IntRange(0, 1_000_000), default=4, show_default=True, help="Cold starts per day."
)
@JSON
def cost(
    *, steps: tuple[int, ...], ttl: int, step_seconds: int, resumes: int, as_json: bool, **prices: float
) -> None:
    """Show what runs of STEPS steps (100 500 2000 5000) cost: history replayed raw, folded to digests, or looked up.

    In a pipe: steps, dollars raw, with digests, looked up, looked up per step, raw from a cache, its rent per day.
    """
    from pinfold.server.commands.lab_report import cost_report
    from pinfold.server.commands.tables import tell

    tell(cost_report(steps, Prices(**prices), Cached(ttl, step_seconds, resumes)), as_json=as_json)


@click.command(cls=Command)
@click.argument("transcript", type=click.Path(path_type=Path))
@priced
@with_page
@JSON
def rent(transcript: Path, page: Path | None, *, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Show what the prompt cache of a TRANSCRIPT really cost: reads, writes, and what resumes wrote anew.

    In a pipe: day, requests, resumes, tokens plain, read, written, rewritten, output, dollars, those of rewrites.
    """
    from pinfold.server.commands.progress import bar
    from pinfold.server.commands.rent_report import paid_for, rent_report
    from pinfold.server.commands.tables import tell

    lifetime_s = options.pop("ttl")
    with page_file(page, transcript, overwrite=overwrite) as file:
        with bar("rent") as progress:
            paid = paid_for(transcript, Prices(**options), lifetime_s, progress)
        if file is not None:
            from pinfold.server.commands.rent_page import rent_page

            file.write(rent_page(transcript, paid))
    tell(told_of(rent_report(transcript, paid, lifetime_s), page), as_json=as_json)
