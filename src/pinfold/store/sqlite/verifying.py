"""`verify`: the log against itself, and all that is derived or stored beside it against the log. Source: P10."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pinfold.store import Progress
from pinfold.store.errors import DamagedError
from pinfold.store.results import VerifyReport
from pinfold.store.sql.auditing import MOST_PROBLEMS, LogAudit, part, stale_problems
from pinfold.store.sql.checking_bytes import check_bytes
from pinfold.store.sqlite.connection import SCHEMA_VERSION, identity
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.private_copy import private_copy, unreadable
from pinfold.store.sqlite.schema import missing_or_foreign
from pinfold.store.sqlite.staleness import differences
from pinfold.store.sqlite.upgrading import is_old, upgrade
from pinfold.store.values import Receipt

_COPYING, _CHAIN, _BYTES = 10, 30, 50
"""Where each part of the work ends, in hundredths of all of it."""


def verify(
    database: Path, progress: Progress | None = None, receipts: Sequence[Receipt] = ()
) -> VerifyReport:
    """Check everything, in a private copy of `database` as it is now; the copy and its views need room.

    Raises `NoSpaceError` where there is none, `BusyError` where another program keeps the file to itself.
    """
    return _verified(database, progress, receipts)


def verify_kept(database: Path, progress: Progress | None = None) -> VerifyReport:
    """Check what cannot be derived anew: the file, the log, the bytes. A small part of the time of `verify`."""
    return _verified(database, progress, (), with_derived=False)


def _verified(
    database: Path, progress: Progress | None, receipts: Sequence[Receipt], *, with_derived: bool = True
) -> VerifyReport:
    try:
        with private_copy(database, part(progress, 0, _COPYING)) as copy:
            return _Verification(copy, progress, receipts).report(with_derived=with_derived)
    except DamagedError as error:
        return VerifyReport(0, 0, (f"file: {error.message}",), None)


def stale_views(database: Path, progress: Progress | None = None) -> tuple[str, ...]:
    """Return what `rebuild` would change; see `Store.stale_views`."""
    with private_copy(database, part(progress, 0, _COPYING)) as copy:
        try:
            return tuple(differences(copy, part(progress, _COPYING, 100)))
        except sqlite3.Error as error:
            translate(error, str(database.parent))


class _Verification:
    """One look at a private copy, which it uses up."""

    def __init__(self, copy: SqliteDatabase, progress: Progress | None, receipts: Sequence[Receipt]) -> None:
        self._db = copy
        self._progress = progress
        self._receipts = receipts
        self._log = LogAudit(copy)
        self._problems = self._log.problems

    def report(self, *, with_derived: bool) -> VerifyReport:
        """Check part by part; one that cannot even be read is a problem of its own."""
        events = artifacts = 0
        with self._naming("file"):
            self._problems += [
                f"file: {row[0]}" for row in self._db.execute("PRAGMA integrity_check") if row[0] != "ok"
            ]
            self._check_schema()
        with self._naming("log"):
            events = self._db.execute("SELECT count(*) FROM event").fetchone()[0]
            self._log.check_chain(part(self._progress, _COPYING, _CHAIN))
        is_log_sound = not self._problems
        with self._naming("log"):
            self._log.check_receipts(self._receipts)
        with self._naming("bytes"):
            self._problems += check_bytes(self._db, part(self._progress, _CHAIN, _BYTES))
            artifacts = self._db.execute("SELECT count(*) FROM artifact").fetchone()[0]
        if is_log_sound and with_derived:
            self._check_derived()
        problems = tuple(self._problems[:MOST_PROBLEMS])
        return VerifyReport(events, artifacts, problems, self._log.tip, tuple(self._log.held))

    @contextmanager
    def _naming(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            self._problems.append(f"{what}: {unreadable(error)}")

    def _check_schema(self) -> None:
        """Bring a copy of an earlier pinfold's file up to date, so that it can be compared as well."""
        version = identity(self._db)[1]
        if version > SCHEMA_VERSION:
            self._problems.append(
                f"file: a newer pinfold wrote it (schema {version}); verify it with that one"
            )
        elif is_old(self._db):
            upgrade(self._db)
        self._problems += missing_or_foreign(self._db)

    def _check_derived(self) -> None:
        with self._naming("views"):
            self._problems += stale_problems(differences(self._db, part(self._progress, _BYTES, 100)))
