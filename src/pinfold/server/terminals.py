"""Where a command's words go: to a terminal or not, and what is to be done where they can go nowhere."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import IO, TextIO

from pinfold.store.errors import InvalidInputError


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether `stream`, one of the standard ones of `sys`, is open and a terminal."""
    return stream is not None and stream.isatty()


def standard_output() -> TextIO:
    """Return what content is written to; raises `InvalidInputError` where it was closed before the command began."""
    if sys.stdout is None:
        raise InvalidInputError(
            "Standard output is closed; nothing was written.", "Leave it open, or name a file."
        )
    return sys.stdout


def give_up_output() -> None:
    """Lead what standard output holds back, and could not be written, nowhere: the end would try it once more."""
    with suppress(OSError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
