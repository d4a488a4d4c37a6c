"""A store's log, read past the store, with nothing of it in the way."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from pinfold.store.sqlite.connection import Place
from pinfold.store.values import Receipt


@dataclass(frozen=True, slots=True)
class Log:
    """The receipts of all events, and by key those of the events that have one; each key stands once."""

    receipts: tuple[Receipt, ...] = ()
    keyed: Mapping[str, Receipt] = field(default_factory=dict)

    @property
    def keys(self) -> frozenset[str]:
        """All keys."""
        return frozenset(self.keyed)


def log_of(database: Path) -> Log:
    """Read a log that nobody writes to; an empty one where there is no store, or a blank one."""
    if not database.exists():
        return Log()
    with closing(sqlite3.connect(database)) as link:
        if link.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
            return Log()
        rows = link.execute("SELECT seq, lower(hex(digest)), key FROM event ORDER BY seq").fetchall()
    receipts = tuple(Receipt(seq, digest[:12]) for seq, digest, _ in rows)
    keys = [key for _, _, key in rows]
    assert len({*keys} - {None}) == len(rows) - keys.count(None)
    return Log(receipts, {key: receipt for key, receipt in zip(keys, receipts, strict=True) if key})


def log_after_a_kill(place: Place, scratch: Path) -> Log:
    """Return the log that would be found if all processes of a store were killed now."""
    copy = Place(scratch / "after a kill")
    shutil.rmtree(copy.folder, ignore_errors=True)
    copy.folder.mkdir(parents=True)
    for file in (place.database, place.log_ahead, place.rollback_journal):
        if file.exists():
            shutil.copy(file, copy.folder)
    return log_of(copy.database)
