"""One connection to a store's file: where it lies, the settings that hold for each, and whose file it is.

Sources: design 1 (SQLite settings); P11, P15.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pinfold.store.errors import DamagedError, ReadOnlyError
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.sqlite.failures import BUSY_S, primary_code, translate

APPLICATION_ID = 0x50696E66  # "Pinf"
SCHEMA_VERSION = 5
STEPS_BETWEEN_LOOKS = 10_000
"""How many steps of SQLite's machine pass between two looks at the clock."""

DURABLY = "PRAGMA synchronous = EXTRA"
"""A commit waits for the disk. FULL would do for a write-ahead log; with a rollback journal it does not wait until
the journal is gone, and one that is back after a power cut undoes the commit (P2)."""

_HEADER_BYTES = 100
_SETTINGS = (
    f"PRAGMA busy_timeout = {BUSY_S * 1000:.0f}",  # first: every later statement may meet a lock
    "PRAGMA foreign_keys = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA secure_delete = ON",  # as in many builds: a deleted row's bytes go at once
    "PRAGMA fullfsync = ON",  # on macOS plain fsync stops at the drive's cache; elsewhere it means nothing
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8192",
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
    def shared_memory(self) -> Path:
        """SQLite's index of that log, shared by the processes that have it open."""
        return self.folder / "log.db-shm"

    @property
    def rollback_journal(self) -> Path:
        """What SQLite keeps beside it during a write, where there is no write-ahead log."""
        return self.folder / "log.db-journal"

    @property
    def is_unsettled(self) -> bool:
        """Whether something beside it says that the database alone may be half written."""
        beside = (self.log_ahead, self.rollback_journal)
        return any(file.exists() and file.stat().st_size for file in beside)

    @property
    def lock(self) -> Path:
        """The gate's file."""
        return self.folder / "log.lock"

    @property
    def backups(self) -> Path:
        """The folder of its backups."""
        return self.folder / "backups"

    @property
    def size_bytes(self) -> int:
        """How much room its content takes: the database and the log ahead."""
        return sum(file.stat().st_size for file in (self.database, self.log_ahead) if file.exists())

    @property
    def store_id(self) -> Path:
        """The file that remembers that the database was made."""
        return self.folder / "store-id"


def refuse_fork(opened_in: int) -> None:
    """Raise `RuntimeError` in a child that was forked from the process that opened a store.

    SQLite would believe that it holds its parent's locks, and the gate's lock is one for both.
    """
    if os.getpid() != opened_in:
        raise RuntimeError(f"This store was opened in process {opened_in}: after a fork, open it anew.")


def refuse(place: Place, why: str) -> NoReturn:
    """Raise what is wrong with the store's file, and what to do about it."""
    from pinfold.store.sqlite.backups import restoring

    raise DamagedError(
        f"The store in {place.folder} ({why})",
        f"{restoring(place.backups)}, or move that folder away to begin a new log.",
    )


def check_header(place: Place) -> None:
    """Refuse a file of another program by its first bytes, before SQLite puts files of its own beside it.

    A blank application id passes: after a crash at the first start, ours may still stand in the write-ahead
    log. So does one that is half written as long as its log or journal lies beside it: who opens it for use
    settles that. SQLite itself has to read the bytes: a file that a process opens and closes past it costs the
    process all locks that its other connections hold there, and another process then deletes the log they write to.
    """
    if 0 < place.database.stat().st_size < _HEADER_BYTES:
        refuse(place, f"{place.database.name} is no database")
    address = f"{place.database.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            application, _ = identity(db)
    except sqlite3.Error as error:
        code = primary_code(error)
        if code == sqlite3.SQLITE_CORRUPT or (code == sqlite3.SQLITE_NOTADB and place.is_unsettled):
            return
        if code != sqlite3.SQLITE_NOTADB:
            translate(error, str(place.folder))
        refuse(place, f"{place.database.name} is no database")
    if application not in (0, APPLICATION_ID):
        refuse(place, f"{place.database.name} belongs to another program")


def sealed(database: Path | str) -> str | None:
    """Return why nothing can be written where a store's file lies, or None."""
    folder = os.path.dirname(database) or "."
    if os.access(database, os.W_OK) and os.access(folder, os.W_OK):
        return None
    return f"{folder} cannot be written"


def address_of(database: Path, *, read_only: bool = False) -> str:
    """Return the address by which SQLite opens a store's file.

    For reading only, unless a crash left a rollback journal: what is half written has to be undone first.
    A sealed file is read as it lies there, as long as it has no write-ahead log (SQLite would make one) and
    no such journal.
    """
    place = Place(database.parent)
    mode = "rw"
    if read_only and sealed(database):
        is_alone = not (place.log_ahead.exists() or place.rollback_journal.exists())
        mode = "ro&immutable=1" if is_alone else "ro"
    elif read_only and not place.rollback_journal.exists():
        mode = "ro"
    return f"{database.absolute().as_uri()}?mode={mode}"


def connect(database: Path, *, read_only: bool = False) -> SqliteDatabase:
    """Open one connection with the settings that hold for each; transactions are begun by hand.

    Raises `ReadOnlyError` when the file cannot be opened, `DamagedError` when it is no database.
    """
    try:
        db = sqlite3.connect(
            address_of(database, read_only=read_only),
            uri=True,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            factory=SqliteDatabase,
        )
    except sqlite3.OperationalError as error:
        raise ReadOnlyError(f"{database} cannot be opened ({error})") from error
    try:
        for setting in _SETTINGS:
            db.execute(setting)
    except sqlite3.Error as error:
        db.close()
        translate(error, str(database.parent))
    except UnicodeDecodeError:  # of the driver, over its own words about a schema that is no text
        db.close()
        refuse(Place(database.parent), "its schema cannot be read")
    return db


def read_meta(place: Place) -> dict[str, bytes]:
    """Return what the store knows of itself, once it is clear that it is one of ours.

    Raises `DamagedError` for a file of another program or one that cannot be read.
    """
    check_header(place)
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
        refuse(place, f"{place.database.name} is not a pinfold store")
    return newer_schema(version)


def newer_schema(version: int) -> str | None:
    """Return why tables of this version may only be read, or None. Source: P15."""
    if version > SCHEMA_VERSION:
        return f"a newer pinfold wrote it (schema {version}, this one knows {SCHEMA_VERSION}): update pinfold"
    return None
