"""What a server answers to a verb: lines of a word and JSON, the last of which is `result` or `error`.

`progress [done, total]` may come before, and empty lines, which say that the server is still at work. An answer that
ends without its last line was cut off. Source: docs/decisions/0017.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pinfold.store import Progress
from pinfold.store.errors import PinfoldError
from pinfold.store.remote.contract import Verb

T = TypeVar("T")

KIND = "application/vnd.pinfold"
"""The media type of requests and answers."""

BEAT = b"\n"


def result_line(verb: Verb, result: Any) -> bytes:
    """Return the line that ends an answer with what the verb gave."""
    return b"result " + verb.result.dump_json((result,)) + b"\n"


def error_line(error: PinfoldError) -> bytes:
    """Return the line that ends an answer with an error: its code, its words, and its facts."""
    facts = {name: value for name, value in vars(error).items() if name not in ("message", "hint")}
    told = {"code": error.code, "message": error.message, "hint": error.hint, "facts": facts}
    return b"error " + json.dumps(told).encode() + b"\n"


def progress_line(done: int, total: int) -> bytes:
    """Return a line that says how far the server is."""
    return b"progress " + json.dumps([done, total]).encode() + b"\n"


class CutOffError(Exception):
    """An answer ended before its last line."""


def read_answer(result: Callable[[bytes], T], lines: Iterable[bytes], progress: Progress | None = None) -> T:
    """Return what `result` reads.

    Raises the error that the server had, `CutOffError`, and `ValueError` for an error or progress that is none.
    """
    for line in _whole(lines):
        word, _, told = line.partition(b" ")
        if word == b"result":
            return result(told)
        if word == b"error":
            raise _error(told)
        if word == b"progress" and progress is not None:
            progress(*_reached(told))
    raise CutOffError


def _whole(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends; a last one that has none was cut off."""
    return (line[:-1] for line in lines if line.endswith(b"\n"))


def _error(told: bytes) -> PinfoldError:
    """Return the error of which a server told, as the class that it was there."""
    match json.loads(told):
        case {"code": str(code), "message": str(message), "hint": str(hint), "facts": dict(facts)}:
            kind = KINDS.get(code, PinfoldError)
            error = kind.__new__(kind)
            PinfoldError.__init__(error, message, hint)
            for name, value in facts.items():
                setattr(error, name, value)
            return error
    raise ValueError("no error of a pinfold")


def _reached(told: bytes) -> tuple[int, int]:
    match json.loads(told):
        case [int(done), int(total)]:
            return done, total
    raise ValueError("no progress of a pinfold")


KINDS: dict[str, type[PinfoldError]] = {
    kind.code: kind for kind in PinfoldError.__subclasses__() if kind.__module__ == PinfoldError.__module__
}
"""The errors of the store by their codes; what is above the store has others, which never come from there."""
