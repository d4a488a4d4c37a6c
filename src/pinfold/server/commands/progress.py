"""How far long work is: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pinfold.server.terminals import is_terminal
from pinfold.store import Progress

_STEPS = 1_000


@contextmanager
def bar(label: str) -> Iterator[Progress | None]:
    """Yield what long work reports to, and show that on stderr; None where nobody would see it."""
    if not is_terminal(sys.stderr):
        yield None
        return
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr) as shown:

        def show(done: int, total: int) -> None:
            shown.update(_STEPS * done // max(total, 1) - shown.pos)

        yield show
