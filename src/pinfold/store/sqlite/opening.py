"""Opening a store's file safely: what is checked, in which order, before anything is written.

A normal open writes nothing. A file is made once, under the gate, with its schema in one transaction; afterwards the
`store-id` file beside it remembers that it existed, so that an empty or missing file is damage and never a fresh start.
Sources: design 1 (SQLite settings); facts on starting up; P11, P12, P15, P17, P25.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pinfold.store.errors import DamagedError, InvalidInputError, ReadOnlyError
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.filesystem import can_carry_wal
from pinfold.store.sqlite.gate import Gate

APPLICATION_ID = 0x50696E66  # "Pinf"
SCHEMA_VERSION = 1
_BUSY_MS = 5_000
_SETTINGS = (
    f"PRAGMA busy_timeout = {_BUSY_MS}",  # first: every later statement may meet a lock
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
    def lock(self) -> Path:
        """The gate's file."""
        return self.folder / "log.lock"

    @property
    def store_id(self) -> Path:
        """The file that remembers that the database was made."""
        return self.folder / "store-id"


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
            raise DamagedError(f"The store in {place.folder} (its database is missing or empty)")
        _make(place, project)


def _looks_made(place: Place) -> bool:
    """Whether there is a database whose outside is as we leave it; raises `DamagedError` when it is not."""
    try:
        found = os.lstat(place.database)
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise DamagedError(f"{place.database} (not a regular file with one name)")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise ReadOnlyError(
            f"{place.database} belongs to another user", "Use a store of your own: PINFOLD_HOME."
        )
    return found.st_size > 0 and place.store_id.exists()


def _make(place: Place, project: str) -> None:
    os.close(os.open(place.database, os.O_RDWR | os.O_CREAT, 0o600))  # WAL and SHM take over its mode
    link = connect(place.database)
    try:
        if identity(link) == (0, 0):
            wanted = "WAL" if can_carry_wal(place.folder) else "DELETE"
            link.execute(f"PRAGMA journal_mode = {wanted}")
            link.execute("PRAGMA synchronous = FULL")
            _write_schema(link, project)
        else:
            check_identity(link, place)
    finally:
        link.close()
    handle = os.open(place.store_id, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(handle, b"pinfold store\n")
    os.fsync(handle)
    os.close(handle)


def _write_schema(link: sqlite3.Connection, project: str) -> None:
    schema = files("pinfold.store").joinpath("schema.sql").read_text("utf-8")
    secret = secrets.token_bytes(32)
    link.execute("BEGIN IMMEDIATE")
    for statement in statements(schema):
        link.execute(statement)
    link.executemany(
        "INSERT INTO meta (name, value) VALUES (?, ?)",
        [("project", project.encode()), ("secret", secret)],
    )
    link.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    link.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    link.execute("COMMIT")


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
        link = sqlite3.connect(
            f"{database.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.OperationalError as error:
        raise ReadOnlyError(f"{database} cannot be opened ({error})") from error
    try:
        for setting in _SETTINGS:
            link.execute(setting)
    except sqlite3.Error as error:
        link.close()
        translate(error, str(database.parent), "another process")
    return link


def identity(link: sqlite3.Connection) -> tuple[int, int]:
    """Return (application_id, user_version) of a file; raises `DamagedError` when it is no database."""
    try:
        application: int = link.execute("PRAGMA application_id").fetchone()[0]
        version: int = link.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise DamagedError(f"The store's file ({error})") from error
    return application, version


def check_identity(link: sqlite3.Connection, place: Place) -> str | None:
    """Check whose file this is; return why it may only be read, or None.

    Raises `DamagedError` for a file of another program.
    """
    application, version = identity(link)
    if application != APPLICATION_ID:
        raise DamagedError(f"{place.database} (not a pinfold store)")
    if version > SCHEMA_VERSION:
        return f"it was written by a newer pinfold (schema {version}, this one knows {SCHEMA_VERSION})"
    return None


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
