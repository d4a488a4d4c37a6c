"""How a person lets something happen that changes what is stored: with an option beforehand, or asked at a terminal."""

from __future__ import annotations

import sys
from typing import Literal

import click

from pinfold.server.terminals import is_terminal
from pinfold.store.errors import InvalidInputError

Mode = Literal["look", "do"]
"""Only to look (`--dry-run`), or to go on without being asked (`--yes`)."""


def is_wanted(mode: Mode | None, question: str, refusal: str, *, as_json: bool) -> bool:
    """Return whether to go on; asks where no option says so.

    Raises `InvalidInputError` where nobody can be asked; `refusal` says what did not happen then.
    """
    if mode is not None:
        return mode == "do"
    if as_json or not is_terminal(sys.stdin):
        raise InvalidInputError(f"{refusal}: there is nobody to ask.", "Look with --dry-run, then say --yes.")
    return click.confirm(question, default=False)
