"""What can be wrong inside of a store's database, as far as a few seconds show it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from pinfold.store.events import GENESIS
from pinfold.store.findings import Finding, bad, ok, warn
from pinfold.store.sql.chain import event_problems
from pinfold.store.sql.forgetting.owing import is_owed
from pinfold.store.sqlite.connection import (
    SCHEMA_VERSION,
    STEPS_BETWEEN_LOOKS,
    Place,
    check_header,
    check_identity,
    connect,
    identity,
)
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.examination.files import restoring
from pinfold.store.sqlite.opening import check_carrier
from pinfold.store.sqlite.schema import missing_or_foreign

_LIMIT_S = 3.0
"""How long one look may take."""

_NEWEST = 1_000
_FIRST_SEGMENT = 10  # of FTS5's own rows, those up to here only describe the others
_REBUILD = "Run `pinfold rebuild`."
_LARGER = "`pinfold verify` looks at all of it."


@contextmanager
def looking(place: Place) -> Iterator[SqliteDatabase]:
    """Open the database for reading; raises `DamagedError` for a file of another program."""
    check_header(place)
    with closing(connect(place.database, read_only=True)) as db:
        check_identity(db, place)
        db.row_factory = sqlite3.Row
        db.text_factory = partial(str, encoding="utf-8", errors="replace")  # a damaged text is to be seen
        yield db


@contextmanager
def _limited(db: SqliteDatabase) -> Iterator[float]:
    """Stop a statement that takes too long; yield when that is."""
    end = time.monotonic() + _LIMIT_S
    db.set_progress_handler(lambda: time.monotonic() > end, STEPS_BETWEEN_LOOKS)
    try:
        yield end
    finally:
        db.set_progress_handler(None, 0)


def _schema(db: SqliteDatabase, place: Place) -> Finding:
    version = identity(db)[1]
    if version > SCHEMA_VERSION:
        return bad("schema", f"{version}: a newer pinfold wrote it, so it is only read", "Update pinfold.")
    if version < SCHEMA_VERSION:
        return ok(
            "schema", f"{version}: an earlier pinfold's", "It is brought up to date when it is next opened."
        )
    wrong = list(missing_or_foreign(db))
    if wrong:
        return bad("schema", "; ".join(wrong), restoring(place))
    return ok("schema", f"{version}")


def _journal(db: SqliteDatabase, place: Place) -> Finding:
    why = check_carrier(db, place)
    if why is not None:
        return bad("journal", why, "Until then it is only read.")
    return ok("journal", str(db.execute("PRAGMA journal_mode").fetchone()[0]))


def _file(db: SqliteDatabase, place: Place) -> Finding:
    try:
        with _limited(db):
            wrong = [row[0] for row in db.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return ok("file", f"too large to be looked through in {_LIMIT_S:.0f} s", _LARGER)
    return bad("file", "; ".join(wrong), restoring(place)) if wrong else ok("file", "no damage")


def _log(db: SqliteDatabase, place: Place) -> Finding:
    newest = db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0]
    before = db.execute("SELECT seq, digest FROM event WHERE seq = ?", (newest - _NEWEST,)).fetchone()
    first, previous = (before["seq"], before["digest"]) if before else (0, GENESIS)
    seq = first
    with _limited(db) as end:
        for seq, row in enumerate(
            db.execute("SELECT * FROM event WHERE seq > ? ORDER BY seq", (first,)), start=first + 1
        ):
            wrong = [*event_problems(row, previous)] if row["seq"] == seq else [f"event {seq}: missing"]
            if wrong:
                return bad("log", "; ".join(wrong), restoring(place))
            previous = row["digest"]
            if time.monotonic() > end:
                break
    return ok("log", f"{newest:,} events; the chain holds from {first + 1:,} to {seq:,}", _LARGER)


def _index(db: SqliteDatabase, _place: Place) -> Finding:
    if _is_there(db, "event WHERE body IS NOT NULL AND kind = 'decision.pinned'") and not _is_there(
        db, "entry"
    ):
        return bad("search index", "it knows no pin, though there are some", _REBUILD)
    if _is_there(db, "entry") and not _is_there(db, f"words_data WHERE id > {_FIRST_SEGMENT}"):
        return bad("search index", "it has no words, though there are entries", _REBUILD)
    return ok("search index", "present")


def _is_there(db: SqliteDatabase, what: str) -> bool:
    return bool(db.execute(f"SELECT EXISTS (SELECT 1 FROM {what})").fetchone()[0])  # noqa: S608 - all ours


def _scrub(db: SqliteDatabase, _place: Place) -> Finding:
    if is_owed(db):
        return warn(
            "scrub",
            "what was forgotten may still stand in unused parts of the files",
            "Run `pinfold forget --finish`.",
        )
    return ok("scrub", "none is owed")


CONTENT_CHECKS: dict[str, Callable[[SqliteDatabase, Place], Finding]] = {
    "schema": _schema,
    "journal": _journal,
    "file": _file,
    "log": _log,
    "search index": _index,
    "scrub": _scrub,
}
"""By what each is about; they stand in the order in which they are told."""
