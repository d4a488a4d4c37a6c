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
from pinfold.store.sqlite.failures import BUSY_S, primary_code, translate

APPLICATION_ID = 0x50696E66  # "Pinf"
SCHEMA_VERSION = 3
READ_LIMIT_S = 5.0
"""How long one read may take (P16)."""

STEPS_BETWEEN_LOOKS = 10_000
"""How many steps of SQLite's machine pass between two looks at the clock."""

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
    def lock(self) -> Path:
        """The gate's file."""
        return self.folder / "log.lock"

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
    raise DamagedError(
        f"The store in {place.folder} ({why})",
        f"Put {place.database.name} back from a backup, or move that folder away to begin a new log.",
    )


def check_header(place: Place) -> None:
    """Refuse a file of another program by its first bytes, before SQLite puts files of its own beside it.

    A blank application id passes: after a crash at the first start, ours may still stand in the write-ahead
    log. SQLite itself has to read them: a file that a process opens and closes past it costs the process all
    locks that its other connections hold there, and another process then deletes the log they write to.
    """
    if 0 < place.database.stat().st_size < _HEADER_BYTES:
        refuse(place, f"{place.database.name} is no database")
    address = f"{place.database.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            application, _ = identity(db)
    except sqlite3.Error as error:
        if primary_code(error) != sqlite3.SQLITE_NOTADB:
            translate(error, str(place.folder))
        refuse(place, f"{place.database.name} is no database")
    if application not in (0, APPLICATION_ID):
        refuse(place, f"{place.database.name} belongs to another program")


def sealed(database: Path) -> str | None:
    """Return why nothing can be written where a store's file lies, or None."""
    if os.access(database, os.W_OK) and os.access(database.parent, os.W_OK):
        return None
    return f"{database.parent} cannot be written"


def connect(database: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open one connection with the settings that hold for each; transactions are begun by hand.

    A sealed file is read as it lies there, as long as it has no write-ahead log: SQLite would make one.

    Raises `ReadOnlyError` when the file cannot be opened, `DamagedError` when it is no database.
    """
    mode = "ro" if read_only else "rw"
    if read_only and sealed(database) and not Place(database.parent).log_ahead.exists():
        mode += "&immutable=1"
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
    if version > SCHEMA_VERSION:
        return f"a newer pinfold wrote it (schema {version}, this one knows {SCHEMA_VERSION}): update pinfold"
    return None
