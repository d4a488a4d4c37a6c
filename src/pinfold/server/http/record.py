"""One line of JSON on stderr for each request: who, what, how it went, how long; never what was said.

Source: P26; docs/decisions/0016.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from pinfold.server.notes import note, spell_notes, write_line
from pinfold.store.values import stamp

_NOTE_CHARS = 2_000
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(slots=True)
class Line:
    """What is known of a request so far. `began` is of the monotonic clock; `token` and `project` are names.

    `method` is the protocol's, `tool` what it calls, `failed` whether a tool said that it did.
    """

    http: str
    began: float
    token: str | None = None
    project: str | None = None
    method: str | None = None
    tool: str | None = None
    failed: bool = False


def record(line: Line, status: int) -> None:
    """Write the line of a request that was answered with `status` (0: its client left before)."""
    told = {
        "time": _now(),
        "http": line.http if line.http in _METHODS else "other",
        "status": status,
        "ms": round((time.monotonic() - line.began) * 1000, 1),
        "token": line.token,
        "project": line.project,
        "method": line.method,
        "tool": line.tool,
        "failed": line.failed,
    }
    write_line(json.dumps(told))


class LibraryNotes(logging.Handler):
    """Says that a library had something to say, and where; what it says may quote a caller."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        note(f"{record.levelname.lower()} in {record.name}, {record.filename} line {record.lineno}")


def log_in_json() -> None:
    """Have all that this program and its libraries note written as lines of JSON."""
    spell_notes(lambda text: json.dumps({"time": _now(), "note": text[-_NOTE_CHARS:]}))
    logging.basicConfig(handlers=[LibraryNotes()], level=logging.WARNING, force=True)


def _now() -> str:
    return stamp(datetime.now(UTC))
