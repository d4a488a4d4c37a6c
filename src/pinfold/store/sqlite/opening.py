"""Opening a store's file safely: what is checked, in which order, before anything is written.

A normal open writes nothing. A file is made once, under the gate, with its schema in one transaction;
afterwards the `store-id` file beside it remembers that it existed, so that an empty or missing file is damage
and never a fresh start. Sources: design 1 (SQLite settings); facts on starting up; P11, P12, P15, P17, P25.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from pinfold.store.errors import DamagedError, InvalidInputError, ReadOnlyError
from pinfold.store.sqlite.failures import BUSY_S, refuse_place, translate
from pinfold.store.sqlite.filesystem import can_carry_wal
from pinfold.store.sqlite.gate import Gate

APPLICATION_ID = 0x50696E66  # "Pinf"
SCHEMA_VERSION = 1
_HEADER_BYTES = 100
_SETTINGS = (
    f"PRAGMA busy_timeout = {BUSY_S * 1000:.0f}",  # first: every later statement may meet a lock
    "PRAGMA foreign_keys = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16384",
    f"PRAGMA journal_size_limit = {64 * 1024 * 1024}",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one project's store lies: a folder of its own with database, lock and id."""

    folder: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "log.db"

    @property
    def log_ahead(self) -> Path:
        """SQLite's write-ahead log beside it, where there is one."""
        return self.folder / "log.db-wal"

    @property
    def lock(self) -> Path:
        """The gate's file."""
        return self.folder / "log.lock"

    @property
    def store_id(self) -> Path:
        """The file that remembers that the database was made."""
        return self.folder / "store-id"


def open_gate(place: Place, wait_s: float) -> Gate:
    """Make the store's folder, and every missing one above it, for this user alone; return the gate in it.

    Raises `ReadOnlyError` or `NoSpaceError` where that cannot be done. Source: P25.
    """
    try:
        missing = [folder for folder in (place.folder, *place.folder.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
            _sync_folder(folder.parent)
        return Gate(place.lock, wait_s)
    except OSError as error:
        refuse_place(error, str(place.folder))


def _sync_folder(folder: Path) -> None:
    """Make a new name in `folder` outlast a power cut; a platform without that goes without (P2)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def prepare(place: Place, gate: Gate, project: str) -> None:
    """Make the database when there is none yet; check an existing one's outside.

    Raises `DamagedError` for a file that vanished, is empty, or is no regular file of ours.
    """
    if _looks_made(place):
        return
    with gate.hold():
        if _looks_made(place):
            return
        if place.store_id.exists():
            _refuse(place, "its database is missing or empty")
        try:
            _make(place, project)
        except OSError as error:
            refuse_place(error, str(place.folder))


def _refuse(place: Place, why: str) -> NoReturn:
    raise DamagedError(
        f"The store in {place.folder} ({why})",
        f"Put {place.database.name} back from a backup, or move that folder away to begin a new log.",
    )


def _looks_made(place: Place) -> bool:
    """Whether there is a database whose outside is as we leave it; raises `DamagedError` when it is not."""
    try:
        found = os.lstat(place.database)
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        _refuse(place, f"{place.database.name} is not a regular file with one name")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise ReadOnlyError(
            f"{place.database} belongs to another user", "Use a store of your own: PINFOLD_HOME."
        )
    return found.st_size > 0 and place.store_id.exists()


def _make(place: Place, project: str) -> None:
    os.close(os.open(place.database, os.O_RDWR | os.O_CREAT, 0o600))  # WAL and SHM take over its mode
    _check_header(place)
    db = connect(place.database)
    try:
        if _is_blank(db):
            wanted = "WAL" if can_carry_wal(place.folder) else "DELETE"
            db.execute(f"PRAGMA journal_mode = {wanted}")
            db.execute("PRAGMA synchronous = FULL")
            _write_schema(db, project)
        else:
            check_identity(db, place)
    except sqlite3.Error as error:
        translate(error, str(place.folder))
    finally:
        db.close()
    handle = os.open(place.store_id, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(handle, b"pinfold store\n")
    os.fsync(handle)
    os.close(handle)
    _sync_folder(place.folder)


def _check_header(place: Place) -> None:
    """Refuse a file of another program by its first bytes, before SQLite puts files of its own beside it.

    A blank application id passes: after a crash at the first start, ours may still stand in the write-ahead
    log.
    """
    with place.database.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header:
        return
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
        _refuse(place, f"{place.database.name} is no database")
    if int.from_bytes(header[68:72], "big") not in (0, APPLICATION_ID):
        _refuse(place, f"{place.database.name} belongs to another program")


def _is_blank(db: sqlite3.Connection) -> bool:
    return identity(db) == (0, 0) and not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]


def _write_schema(db: sqlite3.Connection, project: str) -> None:
    schema = files("pinfold.store").joinpath("schema.sql").read_text("utf-8")
    secret = secrets.token_bytes(32)
    db.execute("BEGIN IMMEDIATE")
    for statement in statements(schema):
        db.execute(statement)
    db.executemany(
        "INSERT INTO meta (name, value) VALUES (?, ?)",
        [("project", project.encode()), ("secret", secret)],
    )
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    db.execute("COMMIT")


def statements(script: str) -> list[str]:
    """Split a schema into its statements."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found


def connect(database: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open one connection with the settings that hold for each; transactions are begun by hand.

    Raises `ReadOnlyError` when the file cannot be opened, `DamagedError` when it is no database.
    """
    mode = "ro" if read_only else "rw"
    try:
        db = sqlite3.connect(
            f"{database.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.OperationalError as error:
        raise ReadOnlyError(f"{database} cannot be opened ({error})") from error
    try:
        for setting in _SETTINGS:
            db.execute(setting)
    except sqlite3.Error as error:
        db.close()
        translate(error, str(database.parent))
    return db


def read_meta(place: Place) -> dict[str, bytes]:
    """Return what the store knows of itself, once it is clear that it is one of ours.

    Raises `DamagedError` for a file of another program or one that cannot be read.
    """
    _check_header(place)
    db = connect(place.database, read_only=True)
    try:
        check_identity(db, place)
        return dict(db.execute("SELECT name, value FROM meta").fetchall())
    except sqlite3.Error as error:
        translate(error, str(place.folder))
    finally:
        db.close()


def identity(db: sqlite3.Connection) -> tuple[int, int]:
    """Return (application_id, user_version) of a file."""
    application: int = db.execute("PRAGMA application_id").fetchone()[0]
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return application, version


def check_identity(db: sqlite3.Connection, place: Place) -> str | None:
    """Check whose file this is; return why it may only be read, or None.

    Raises `DamagedError` for a file of another program.
    """
    try:
        application, version = identity(db)
    except sqlite3.Error as error:
        translate(error, str(place.folder))
    if application != APPLICATION_ID:
        _refuse(place, f"{place.database.name} is not a pinfold store")
    if version > SCHEMA_VERSION:
        return f"a newer pinfold wrote it (schema {version}, this one knows {SCHEMA_VERSION}): update pinfold"
    return None


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
