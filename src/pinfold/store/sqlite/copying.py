"""One whole database copied from one snapshot into a new file of this user's alone."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pinfold.store import Progress
from pinfold.store.errors import DamagedError, NoSpaceError
from pinfold.store.file_lock import lock
from pinfold.store.sqlite.backups import UNFINISHED
from pinfold.store.sqlite.connection import connect, identity
from pinfold.store.sqlite.failures import primary_code, refuse_place, translate
from pinfold.store.values import Receipt

PAGES_AT_A_TIME = 2_048
"""Between two of them a copy tells how far it is; 8 MiB."""

_BESIDE = ("-wal", "-shm", "-journal", "")
"""What SQLite lays beside a file, then the file itself."""


@dataclass(frozen=True, slots=True)
class State:
    """What a database holds: whose it is, its schema, and its newest event (`tip`, written at `at`), if it has any."""

    schema: int
    project: str
    secret: bytes = field(repr=False)
    tip: Receipt | None
    at: str | None

    @property
    def seq(self) -> int:
        """The number of the newest event."""
        return self.tip.seq if self.tip else 0


@contextmanager
def snapshot(database: Path) -> Iterator[sqlite3.Connection]:
    """Give one unchanging view of a store's database; raises `DamagedError`, `ReadOnlyError`."""
    try:
        with closing(connect(database, read_only=True)) as db:
            yield fixed(db)
    except sqlite3.Error as error:
        translate(error, str(database.parent))


def fixed(db: sqlite3.Connection) -> sqlite3.Connection:
    """Hold on to what a connection sees now."""
    db.row_factory = sqlite3.Row
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # only a read begins the snapshot
    return db


def state_of(db: sqlite3.Connection) -> State:
    """Return what a database of ours holds; raises `DamagedError` where it lacks what every one has."""
    try:
        meta = dict(db.execute("SELECT name, value FROM meta").fetchall())
        newest = db.execute("SELECT seq, digest, at FROM event ORDER BY seq DESC LIMIT 1").fetchone()
        project, secret = meta["project"].decode(), bytes(meta["secret"])
    except (sqlite3.OperationalError, KeyError, UnicodeDecodeError) as error:
        if isinstance(error, sqlite3.OperationalError) and primary_code(error) != sqlite3.SQLITE_ERROR:
            raise
        raise DamagedError("The log's beginning") from error
    tip = Receipt.of(newest["seq"], newest["digest"]) if newest else None
    return State(identity(db)[1], project, secret, tip, newest["at"] if newest else None)


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Give a new empty file in `folder`, which is gone afterwards unless it was renamed meanwhile.

    What a killed process left of such files is cleared first. Raises `NoSpaceError`, `ReadOnlyError`.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        clear_abandoned(folder)
        held, part = _new(folder)
    except OSError as error:
        refuse_place(error, str(folder))
    try:
        yield part
    finally:
        if held is not None:
            os.close(held)
        remove(part)


def _new(folder: Path) -> tuple[int | None, Path]:
    """Make the file, and lock it for as long as its maker lives, so that nobody takes it for abandoned."""
    prefix, suffix = UNFINISHED
    while True:
        held, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=folder)
        if os.name != "posix":  # elsewhere an open file cannot be removed anyway, nor renamed
            os.close(held)
            return None, Path(name)
        if lock(held, wait=False) and os.fstat(held).st_nlink:
            return held, Path(name)
        os.close(held)  # another process cleared it before it was locked


def clear_abandoned(folder: Path) -> None:
    """Remove the unfinished copies whose makers are gone."""
    for part in folder.glob("*".join(UNFINISHED)):
        with suppress(OSError):
            held = os.open(part, os.O_RDWR)
            try:
                if lock(held, wait=False):
                    remove(part)
            finally:
                os.close(held)


def remove(database: Path) -> None:
    """Remove a copy of ours with all that SQLite lays beside it."""
    for ending in _BESIDE:
        Path(f"{database}{ending}").unlink(missing_ok=True)


def copy_into(source: sqlite3.Connection, target: Path, progress: Progress | None = None) -> None:
    """Copy a snapshot into an empty file and bring that to the disk; the copy has a rollback journal.

    `progress` counts pages. Since `source` holds its snapshot open, no write elsewhere makes the copy begin anew, and
    with a write-ahead log no writer waits for it. Raises `NoSpaceError`, before a byte is written where that is clear.
    """
    _check_room(source, target.parent)
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = OFF")  # until it is whole the copy is worth nothing
            db.execute("PRAGMA synchronous = OFF")
            copy_pages(source, db, progress)
            db.execute("PRAGMA journal_mode = DELETE")  # with a log ahead it would be more than one file
        sync(target)
    except sqlite3.Error as error:
        translate(error, str(target.parent))
    except OSError as error:
        refuse_place(error, str(target.parent))


def copy_pages(
    source: sqlite3.Connection, target: sqlite3.Connection, progress: Progress | None = None
) -> None:
    """Copy a snapshot into another database; `progress` counts pages."""

    def told(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    source.backup(target, pages=PAGES_AT_A_TIME, progress=told)


def first_half(progress: Progress | None) -> Progress | None:
    """Return a progress for the copying, which verifying follows."""
    return None if progress is None else lambda done, total: progress(done, 2 * total)


def second_half(progress: Progress | None) -> Progress | None:
    """Return a progress for the verifying behind it."""
    return None if progress is None else lambda done, total: progress(total + done, 2 * total)


def _check_room(source: sqlite3.Connection, folder: Path) -> None:
    pages, page_bytes = (
        source.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
    )
    if shutil.disk_usage(folder).free < pages * page_bytes:
        raise NoSpaceError(str(folder))


def sync(path: Path) -> None:
    """Bring a file to the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
