"""The driver's errors, translated once into the error tree. Source: design 1 (Errors), P5, P13."""

from __future__ import annotations

import sqlite3
from typing import NoReturn

from pinfold.store.errors import (
    FULL,
    BusyError,
    DamagedError,
    InvalidInputError,
    NoSpaceError,
    ReadOnlyError,
    UnknownOutcomeError,
)

BUSY_S = 5.0
"""How long SQLite itself waits for a lock; only a program that passes by the gate can make it wait."""

_STRANGER = "a program that does not queue for the store's lock"
"""Who makes SQLite itself wait: everybody else is kept out by the gate."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
_NO_SPACE_EXTENDED = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMSIZE}
_UNREADABLE_EXTENDED = {
    sqlite3.SQLITE_IOERR_READ,
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
    sqlite3.SQLITE_IOERR_DATA,
}

_NO_TEXT = "Could not decode to UTF-8"
_HALF_WRITTEN = {sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY}
_LOOK_AT_IT = "Look at that disk and folder, then try again."
"""What to do next where reads may fail, too."""


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code of an error, 0 where it has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def translate(error: sqlite3.Error, where: str, *, committing: bool = False) -> NoReturn:
    """Raise what an error of the driver means to a caller; `committing` says that COMMIT itself failed.

    Errors that mean a bug of ours are raised as they are.
    """
    if str(error).startswith(_NO_TEXT):
        raise DamagedError(f"A text in {where}") from None  # the driver's words repeat what is stored
    code = primary_code(error)
    extended = int(getattr(error, "sqlite_errorcode", 0) or 0)
    name = str(getattr(error, "sqlite_errorname", "no code"))
    if code in _BUSY:
        raise BusyError(BUSY_S, _STRANGER) from error
    if committing and code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}:
        raise UnknownOutcomeError(f"the commit failed ({name})") from error
    if code == sqlite3.SQLITE_FULL or extended in _NO_SPACE_EXTENDED:
        raise NoSpaceError(where, "" if code == sqlite3.SQLITE_FULL else name) from error
    if code in _DAMAGED or extended in _UNREADABLE_EXTENDED:
        raise _damaged(where, name) from error
    if extended in _HALF_WRITTEN:
        why = f"{where} cannot be written, and a write that was cut short must be undone first"
        raise ReadOnlyError(why, "Open it once where it can be written.") from error
    if code in _READ_ONLY:
        raise ReadOnlyError(f"{where} cannot be written") from error
    if code == sqlite3.SQLITE_CANTOPEN:
        raise ReadOnlyError(f"its files in {where} cannot be opened", _LOOK_AT_IT) from error
    if code == sqlite3.SQLITE_IOERR:
        raise ReadOnlyError(f"the disk under {where} fails ({name})", _LOOK_AT_IT) from error
    if code == sqlite3.SQLITE_INTERRUPT:
        raise InvalidInputError(
            "This read took too long and was stopped.", "Ask for less at a time."
        ) from error
    raise error


def _damaged(where: str, name: str) -> DamagedError:
    from pathlib import Path

    from pinfold.store.sqlite.backups import looking
    from pinfold.store.sqlite.connection import Place

    return DamagedError(f"The store in {where} ({name})", looking(Place(Path(where)).backups))


def refuse_place(error: OSError, where: str) -> NoReturn:
    """Raise what the operating system's refusal of a file in `where` means to a caller."""
    if error.errno in FULL:
        raise NoSpaceError(where) from error
    raise ReadOnlyError(
        f"{where} cannot be used ({error.strerror})", "Choose another place: PINFOLD_HOME."
    ) from error
