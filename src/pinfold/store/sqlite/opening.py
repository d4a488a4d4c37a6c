"""Opening a store's file safely: what is checked, in which order, before anything is written.

A normal open writes nothing. A file is made once, under the gate, with its schema in one transaction;
afterwards the `store-id` file beside it remembers that it existed, so that an empty or missing file is damage
and never a fresh start. Sources: design 1 (SQLite settings); facts on starting up; P11, P12, P15, P17, P25.
"""

from __future__ import annotations

import os
import sqlite3

from pinfold.store.errors import InvalidInputError
from pinfold.store.private_files import make_private_folder, sync_folder
from pinfold.store.sqlite.connection import (
    APPLICATION_ID,
    DURABLY,
    SCHEMA_VERSION,
    Place,
    check_header,
    check_identity,
    connect,
    identity,
    refuse,
)
from pinfold.store.sqlite.failures import refuse_place, translate
from pinfold.store.sqlite.filesystem import can_carry_wal
from pinfold.store.sqlite.gate import Gate
from pinfold.store.sqlite.ownership import check_own, own_file


def open_gate(place: Place, wait_s: float) -> Gate:
    """Make the store's folder, and every missing one above it, for this user alone; return the gate in it.

    Raises `ReadOnlyError` or `NoSpaceError` where that cannot be done, and what `check_own` raises. Source: P25.
    """
    try:
        make_private_folder(place.folder)
        check_own(place)
        return Gate(place.lock, wait_s)
    except OSError as error:
        refuse_place(error, str(place.folder))


def prepare(place: Place, gate: Gate, project: str) -> None:
    """Make the database when there is none yet; check an existing one's outside.

    Raises `DamagedError` for a file that vanished, is empty, or is no regular file of ours.
    """
    if looks_made(place):
        return
    with gate.hold():
        if looks_made(place):
            return
        if place.store_id.exists():
            refuse(place, "its database is missing or empty")
        try:
            _make(place, project)
        except OSError as error:
            refuse_place(error, str(place.folder))


def looks_made(place: Place) -> bool:
    """Whether there is a database whose outside is as we leave it; raises `DamagedError` when it is not."""
    found = own_file(place, place.database)
    return found is not None and found.st_size > 0 and place.store_id.exists()


def _make(place: Place, project: str) -> None:
    os.close(os.open(place.database, os.O_RDWR | os.O_CREAT, 0o600))  # WAL and SHM take over its mode
    check_header(place)
    db = connect(place.database)
    try:
        if _is_blank(db):
            wanted = "WAL" if can_carry_wal(place.folder) else "DELETE"
            db.execute(f"PRAGMA journal_mode = {wanted}")
            db.execute(DURABLY)
            _write_schema(db, project)
        else:
            check_identity(db, place)
    except sqlite3.Error as error:
        translate(error, str(place.folder))
    finally:
        db.close()
    remember(place)


def remember(place: Place) -> None:
    """Write down beside the database that there is one: from now on a missing one is damage."""
    handle = os.open(place.store_id, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(handle, b"pinfold store\n")
    os.fsync(handle)
    os.close(handle)
    sync_folder(place.folder)


def _is_blank(db: sqlite3.Connection) -> bool:
    return identity(db) == (0, 0) and not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]


def _write_schema(db: sqlite3.Connection, project: str) -> None:
    import secrets  # both are needed once in the life of a store

    from pinfold.store.sqlite.schema import statements

    secret = secrets.token_bytes(32)
    db.execute("BEGIN IMMEDIATE")
    for statement in statements():
        db.execute(statement)
    db.executemany(
        "INSERT INTO meta (name, value) VALUES (?, ?)",
        [("project", project.encode()), ("secret", secret)],
    )
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    db.execute("COMMIT")


def check_carrier(db: sqlite3.Connection, place: Place) -> str | None:
    """Return why this filesystem makes the file one for reading only, or None.

    A store made on a local disk keeps its write-ahead log when it is moved to where none is safe (P17).
    """
    if can_carry_wal(place.folder) or db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        return None
    return "it has a write-ahead log, which this filesystem cannot carry: move it back to a local disk"


def check_engine() -> None:
    """Raise `InvalidInputError` when this Python's SQLite cannot serve a store."""
    probe = sqlite3.connect(":memory:")
    try:
        probe.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
    except sqlite3.OperationalError:
        raise InvalidInputError(
            f"This Python's SQLite {sqlite3.sqlite_version} has no FTS5, which search needs.",
            "Run pinfold with another Python, e.g. `uvx --python 3.12 pinfold`.",
        ) from None
    finally:
        probe.close()
