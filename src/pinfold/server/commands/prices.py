"""The options of what tokens cost, for the commands that reckon in dollars."""

from __future__ import annotations

from collections.abc import Callable

import click

from pinfold.context.lab.cost import Prices
from pinfold.server.options import Amount

MOST_SECONDS = 366 * 24 * 3_600


def priced(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a prompt cache: what tokens cost, and how long it lives."""
    usual, dollars = Prices(), Amount(most=1_000_000)
    prices = {
        "--read": (usual.read, "of input"),
        "--output": (usual.output, "of output"),
        "--cache-read": (usual.cache_read, "read from a prompt cache"),
        "--cache-write": (
            usual.cache_write,
            "written to one for minutes; for an hour it is twice the input's",
        ),
    }
    command = click.option(
        "--ttl",
        type=click.IntRange(1, MOST_SECONDS),
        default=300,
        show_default=True,
        help="Seconds that a cache lives.",
    )(command)
    for flag, (default, of) in reversed(prices.items()):
        told = f"Dollars per million tokens {of}."
        command = click.option(flag, type=dollars, default=default, show_default=True, help=told)(command)
    return command
