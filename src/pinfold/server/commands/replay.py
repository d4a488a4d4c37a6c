"""The command `replay`: what a transcript's requests took, and would have taken under a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pinfold.context.lab.cost import Prices
from pinfold.server.commands.page_file import page_file, told_of, with_page
from pinfold.server.commands.prices import priced
from pinfold.server.options import JSON, Command

_LIMITS = {
    "--window": "The model's window (default: that of the transcript's model).",
    "--output-reserve": "Of the window, for the model's answer (default: the client's).",
    "--system-prompt": "What the client's prompt and tools take of each request (default: the client's).",
    "--tool-definitions": "What further tools take of each request (default: 0).",
    "--safety-margin": "How far from full the window may get (default: the client's).",
    "--spill": "Results above this become a preview and a pointer (default: 2000).",
    "--stale-turns": "Results that are so many prompts old may shrink to a line (default: 10).",
    "--keep": "What a fold leaves of the newest messages (default: 4000).",
    "--fold-batch": "Fold so many of the oldest messages, instead of all but --keep.",
}
_AT_LEAST_ONE = ("--window", "--fold-batch")
_MOST_DIGITS = 9


def _cap(_ctx: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    caps = {}
    for each in given:
        tool, _, tokens = each.rpartition("=")
        if not (tool and tokens.isascii() and tokens.isdigit() and len(tokens) <= _MOST_DIGITS):
            raise click.BadParameter("a cap looks like Bash=500")
        caps[tool] = int(tokens)
    return caps


def _limited(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a policy, by the names that it has for them."""
    command = click.option(
        "--cap",
        "caps",
        multiple=True,
        callback=_cap,
        metavar="TOOL=TOKENS",
        help="Cut a tool's disposable output where it enters; as often as needed.",
    )(command)
    for flag, told in reversed(_LIMITS.items()):
        least = click.IntRange(1 if flag in _AT_LEAST_ONE else 0, 10**_MOST_DIGITS)
        command = click.option(flag, type=least, help=told)(command)
    return command


@click.command(cls=Command)
@click.argument("transcript", type=click.Path(path_type=Path))
@click.option(
    "--client", type=click.Choice(("claude-code", "codex")), help="Who wrote it, if it does not show."
)
@_limited
@click.option(
    "--tokens",
    type=click.Choice(("o200k", "estimate")),
    default="o200k",
    show_default=True,
    help="The real tokenizer, or a quarter of the characters.",
)
@priced
@click.option("--steps", "show_steps", is_flag=True, help="Show each request instead of the sums.")
@with_page
@JSON
def replay(transcript: Path, client: str | None, *, show_steps: bool, as_json: bool, **options: Any) -> None:
    """Run a TRANSCRIPT through a policy: what each request took, and what it would have with pinfold's projection.

    raw is all that was said until then, client what its client had left of that after its own folds, projected what
    the policy makes of it, reported what the client wrote down. Pictures and the model's thoughts are only in that.

    In a pipe: a name, and its figures raw, client, projected, reported; with --steps number, instant (UTC), the four.
    """
    from pinfold.server.commands.progress import bar
    from pinfold.server.commands.replay_report import Choice, Limits, report_of, seen
    from pinfold.server.commands.tables import tell

    page, overwrite = options.pop("page"), options.pop("overwrite")
    prices = Prices(**{name: options.pop(name) for name in ("read", "output", "cache_read", "cache_write")})
    lifetime_s, tokens = options.pop("ttl"), options.pop("tokens")
    choice = Choice(client, prices, lifetime_s, tokens, Limits(**options))
    with page_file(page, transcript, overwrite=overwrite) as file, bar("replay") as progress:
        found = seen(transcript, choice, progress)
        if file is not None:
            from pinfold.server.commands.replay_page import replay_page

            file.write(replay_page(found))
    tell(told_of(report_of(found, show_steps=show_steps), page), as_json=as_json)
