"""Putting a backup back: it is copied and verified first, and the present state is kept, whatever it is in.

A sound store takes the copy's pages in one transaction, so that running servers go on with them. Of a missing or
damaged one the files are set aside, and the copy takes their place. Nothing is deleted. Sources: P11, P30.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.store import Progress
from pinfold.store.errors import BusyError, DamagedError, InvalidInputError
from pinfold.store.private_files import sync_folder
from pinfold.store.sqlite.backing_up import UNREADABLE, back_up_checked, check_store, problem_of
from pinfold.store.sqlite.backups import Backup, compact, now
from pinfold.store.sqlite.connection import APPLICATION_ID, DURABLY, SCHEMA_VERSION, Place, connect, identity
from pinfold.store.sqlite.copying import (
    State,
    copy_into,
    first_half,
    fixed,
    second_half,
    state_of,
    sync,
    unfinished,
)
from pinfold.store.sqlite.failures import primary_code, refuse_place, translate
from pinfold.store.sqlite.filesystem import can_carry_wal
from pinfold.store.sqlite.gate import WAIT_S, Gate
from pinfold.store.sqlite.opening import open_gate, remember
from pinfold.store.sqlite.restore_plan import RestorePlan, compare
from pinfold.store.sqlite.upgrading import is_old, upgrade

_LIST = "`pinfold backup --list` shows what can be restored."
_FILES = ("", "-wal", "-shm", "-journal")
"""What makes up a database, the file itself first: what is left without it is never taken for an older state."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A verified copy of a backup, of the present schema, in the store's folder, and what putting it back changes."""

    place: Place
    gate: Gate
    copy: Path
    plan: RestorePlan


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done: `undo` is a backup of the state before, `set_aside` the folder that its files were moved to."""

    undo: Backup | None
    set_aside: Path | None


@contextmanager
def staged(place: Place, file: Path, project: str, progress: Progress | None = None) -> Iterator[Staged]:
    """Copy a backup beside the store of `project`, bring the copy up to date, verify it and compare.

    Afterwards nothing of it is left unless it was put back. Raises `InvalidInputError` for what is no backup,
    `DamagedError` for one that does not verify, `NoSpaceError`, `ReadOnlyError`.
    """
    _check_file(place, file)
    was_there = place.folder.exists()
    gate = open_gate(place, WAIT_S)
    try:
        with unfinished(place.folder) as copy:
            state = _stage(file, copy, progress)
            yield Staged(place, gate, copy, compare(place, copy, (file, state), project))
    finally:
        gate.close()
        if not (was_there or place.store_id.exists()):
            _leave_no_trace(place)


def _check_file(place: Place, file: Path) -> None:
    if not file.is_file():
        raise InvalidInputError(f"{file} is no file.", _LIST)
    if place.database.exists() and file.samefile(place.database):
        raise InvalidInputError(f"{file} is the store itself.", _LIST)


def _leave_no_trace(place: Place) -> None:
    with suppress(OSError):
        place.lock.unlink(missing_ok=True)
        place.folder.rmdir()


def _stage(file: Path, copy: Path, progress: Progress | None) -> State:
    """Make the copy and return the state that the backup is in; it is the copy's but for the schema."""
    try:
        with closing(_still(file)) as source:
            _check_kind(source, file)
            state = state_of(fixed(source))
            copy_into(source, copy, first_half(progress))
        _bring_up(copy)
        problem = problem_of(copy, replace(state, schema=SCHEMA_VERSION), second_half(progress))
    except (sqlite3.DatabaseError, DamagedError) as error:
        raise DamagedError(f"{file} ({UNREADABLE})", _LIST) from error
    if problem:
        raise DamagedError(f"{file} ({problem})", _LIST)
    return state


def _still(file: Path) -> sqlite3.Connection:
    """Open a file as it lies there, with nothing laid beside it; with its own log ahead or journal where it has one."""
    is_alone = not any(Path(f"{file}{ending}").exists() for ending in ("-wal", "-journal"))
    settings = "mode=ro&immutable=1" if is_alone else "mode=ro"
    return sqlite3.connect(f"{file.absolute().as_uri()}?{settings}", uri=True, isolation_level=None)


def _check_kind(source: sqlite3.Connection, file: Path) -> None:
    try:
        application, schema = identity(source)
    except sqlite3.DatabaseError as error:
        if primary_code(error) != sqlite3.SQLITE_NOTADB:
            raise
        application, schema = 0, 0
    if application != APPLICATION_ID:
        raise InvalidInputError(f"{file} is no backup of a pinfold store.", _LIST)
    if schema > SCHEMA_VERSION:
        raise InvalidInputError(
            f"{file} is of a newer pinfold (schema {schema}, this one knows {SCHEMA_VERSION}).",
            "Update pinfold.",
        )


def _bring_up(copy: Path) -> None:
    with closing(connect(copy)) as db:
        if is_old(db):
            upgrade(db)
    sync(copy)


def put_back(staging: Staged, progress: Progress | None = None) -> Restored:
    """Put the copy in the place of what is there, which is backed up before; nobody writes meanwhile.

    What cannot be backed up, since it is missing or damaged, is set aside; so is, beside its backup, the store of
    another secret, which running servers know it by. Raises `BusyError`, `NoSpaceError`, `ReadOnlyError`.
    """
    place = staging.place
    with staging.gate.hold():
        undo = _undo(place, progress)
        if undo is not None and not staging.plan.foreign:
            _pour(staging.copy, place)
            return Restored(undo, None)
        try:
            return Restored(undo, _swap(staging.copy, place))
        except OSError as error:
            refuse_place(error, str(place.folder))


def _undo(place: Place, progress: Progress | None) -> Backup | None:
    try:
        check_store(place)
        return back_up_checked(place, progress=progress)
    except DamagedError:
        return None


def _pour(copy: Path, place: Place) -> None:
    """Write all pages into the store as one transaction, which whoever has it open sees from its end on."""
    end = time.monotonic() + WAIT_S

    def look(status: int, _remaining: int, _total: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() > end:
            raise BusyError(WAIT_S, "a program that reads it, and has no write-ahead log")

    try:
        with closing(connect(copy, read_only=True)) as source, closing(connect(place.database)) as target:
            target.execute(DURABLY)
            source.backup(target, progress=look)
    except sqlite3.Error as error:
        translate(error, str(place.folder))


def _swap(copy: Path, place: Place) -> Path | None:
    """Set aside what is there, and give the copy its name; whenever this is cut short, what is there is damage."""
    remember(place)
    aside = _set_aside(place)
    if can_carry_wal(place.folder):
        with closing(sqlite3.connect(copy, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
        sync(copy)
    copy.rename(place.database)
    sync_folder(place.folder)
    return aside


def _set_aside(place: Place) -> Path | None:
    found = [file for ending in _FILES if os.path.lexists(file := Path(f"{place.database}{ending}"))]
    if not found:
        return None
    folder = place.folder / f"set-aside-{compact(now())}"
    folder.mkdir(mode=0o700)
    for file in found:
        file.rename(folder / file.name)
    sync_folder(folder)
    sync_folder(place.folder)
    return folder
