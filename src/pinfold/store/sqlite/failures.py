"""The driver's errors, translated once into the error tree. Source: design 1 (Errors), P5, P13."""

from __future__ import annotations

import sqlite3
from typing import NoReturn

from pinfold.store.errors import (
    BusyError,
    DamagedError,
    InvalidInputError,
    NoSpaceError,
    ReadOnlyError,
    UnknownOutcomeError,
)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_NO_SPACE_EXTENDED = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE}


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code of an error, 0 where it has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def translate(error: sqlite3.Error, where: str, holder: str, *, committing: bool = False) -> NoReturn:
    """Raise what an error of the driver means to a caller; `committing` says that COMMIT itself failed.

    Errors that mean a bug of ours are raised as they are.
    """
    code = primary_code(error)
    extended = int(getattr(error, "sqlite_errorcode", 0) or 0)
    if code in _BUSY:
        raise BusyError(10.0, holder) from error
    if committing and code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}:
        raise UnknownOutcomeError(getattr(error, "sqlite_errorname", "I/O error")) from error
    if code == sqlite3.SQLITE_FULL or extended in _NO_SPACE_EXTENDED:
        raise NoSpaceError(where) from error
    if code in _DAMAGED:
        raise DamagedError(f"The store in {where}") from error
    if code in _READ_ONLY:
        raise ReadOnlyError(f"{where} cannot be written") from error
    if code == sqlite3.SQLITE_IOERR:
        raise NoSpaceError(where) from error
    if code == sqlite3.SQLITE_INTERRUPT:
        raise InvalidInputError("This read took too long and was stopped.", "Ask for less at a time.") from error
    raise error
