"""A line on stderr that never blocks: a client that leaves stderr unread must not stop the server."""

from __future__ import annotations

import os
import select
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from pinfold.store.errors import PinfoldError

_STDERR = 2
_ATOMIC_BYTES = 4096
_spelled: Callable[[str], str] = "pinfold: {}".format


def spell_notes(spelling: Callable[[str], str]) -> None:
    """Have every note from now on written as `spelling` says, e.g. as JSON; it returns one line without its end."""
    global _spelled  # noqa: PLW0603 - a process has one stderr
    _spelled = spelling


def note(text: str) -> None:
    """Write `text` to stderr if it can take 4 KiB at once, else drop it. Longer texts keep their end.

    Callers pass no arguments, results or other content of a message. Source: P26.
    """
    write_line(_spelled(text))


def write_line(text: str) -> None:
    """Write a line as it is to stderr, under the same conditions."""
    line = f"{text}\n".encode("ascii", "backslashreplace")[-_ATOMIC_BYTES:]
    with suppress(OSError):
        if sys.platform == "win32" or select.select([], [_STDERR], [], 0)[1]:
            os.write(_STDERR, line)


def note_failure(what: str, error: BaseException) -> None:
    """Write what failed and where, without the error's own text, which may quote a caller. Source: P26."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    note(f"{what} failed with {type(error).__name__}, last called at:\n{frames}")


def in_words(error: BaseException) -> str:
    """Return what went wrong in a sentence: of a bug its kind and place, since its own text may quote a caller.

    Source: P26.
    """
    if isinstance(error, (PinfoldError, OSError)):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    return f"pinfold failed with {type(error).__name__}{place}."
