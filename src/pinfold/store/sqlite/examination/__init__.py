"""A quick look at a store's files and at the SQLite that serves them, for `pinfold doctor`. Changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pinfold.store.errors import PinfoldError
from pinfold.store.findings import Finding, bad, warn
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.examination.contents import CONTENT_CHECKS, looking
from pinfold.store.sqlite.examination.engine import engine
from pinfold.store.sqlite.examination.files import FILE_CHECKS, restoring

_CUT_OFF = "a write goes on or was cut off; what is half written is undone when the store is next opened"


def examine_engine() -> Finding:
    """Return whether this Python's SQLite can serve a store."""
    return engine()


def examine(folder: Path) -> Iterator[Finding]:
    """Yield what there is to say of the store in `folder`, which exists; never raises for what it finds there.

    It takes a few seconds at most, whatever the store's size.
    """
    place = Place(folder)
    for subject, check in FILE_CHECKS.items():
        yield _told(place, subject, partial(check, place))
    if place.rollback_journal.exists():  # whoever opens the database now undoes what is half written
        yield warn("contents", _CUT_OFF, "Do something with it, e.g. `pinfold status`, and look again.")
        return
    try:
        with looking(place) as db:
            for subject, look in CONTENT_CHECKS.items():
                yield _told(place, subject, partial(look, db, place))
    except (sqlite3.Error, OSError, PinfoldError) as error:
        yield _unreadable(place, "database", error)


def _told(place: Place, subject: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except (sqlite3.Error, OSError, PinfoldError) as error:
        return _unreadable(place, subject, error)


def _unreadable(place: Place, subject: str, error: Exception) -> Finding:
    if isinstance(error, PinfoldError):
        return bad(subject, error.message, error.hint)
    return bad(subject, f"it cannot be read ({error})", restoring(place))
