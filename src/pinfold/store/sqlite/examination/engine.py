"""Whether the SQLite of this Python can serve a store, and which of its old faults it has."""

from __future__ import annotations

import sqlite3

from pinfold.store.errors import InvalidInputError
from pinfold.store.findings import Finding, bad, ok
from pinfold.store.sqlite.opening import check_engine

_STRICT_SINCE = (3, 37, 0)
_RACE_MENDED = (3, 51, 3)
_SERIALIZED = 3
_ANOTHER = "Run pinfold with another Python, e.g. `uvx --python 3.12 pinfold`."


def engine() -> Finding:
    """Return whether SQLite has what is needed; one with the race at resetting the log ahead is served by the gate.

    Source: docs/decisions/0004.
    """
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _STRICT_SINCE:
        return bad("SQLite", f"{version}, which knows no strict tables", _ANOTHER)
    try:
        check_engine()
    except InvalidInputError as error:
        return bad("SQLite", error.message, error.hint)
    if sqlite3.threadsafety != _SERIALIZED:
        return bad("SQLite", f"{version}, built without locks between threads", _ANOTHER)
    if sqlite3.sqlite_version_info < _RACE_MENDED:
        return ok("SQLite", f"{version} with FTS5; pinfold's lock keeps out a race that 3.51.3 has mended")
    return ok("SQLite", f"{version} with FTS5")
