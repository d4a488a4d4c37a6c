"""The driver's errors, translated once into the error tree. Source: design 1 (Errors), P5, P13."""

from __future__ import annotations

from typing import NoReturn

import psycopg

from pinfold.store.errors import (
    BusyError,
    DamagedError,
    InvalidInputError,
    NoSpaceError,
    ReadOnlyError,
    UnknownOutcomeError,
    UnreachableError,
)

_LOCKED = {"55P03", "40001", "40P01", "53300"}
_TIMED_OUT = "57014"
_FULL = {"53100", "53200"}
_SEALED = {"25006", "42501"}
_DAMAGED = {"XX001", "XX002"}
_TOO_LONG = "54000"
_GONE = ("08", "57P", "25P03")
"""A connection that broke, a server that ends or begins, a transaction that stood still for too long."""

_ANOTHER = "another process that writes to this project"
_WHERE = "Try again when it is there; PINFOLD_STORE says where it is."


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, and with it what was not committed."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(_GONE)


def translate(
    error: psycopg.Error, where: str, *, waited_s: float = 0.0, committing: bool = False
) -> NoReturn:
    """Raise what an error of the driver means to a caller; `committing` says that COMMIT was on its way.

    Errors that mean a bug of ours are raised as they are.
    """
    state = error.sqlstate or ""
    if is_lost(error):
        if committing:
            raise UnknownOutcomeError("the connection to the database broke") from error
        raise UnreachableError(where, _reason(error), _WHERE) from error
    if state in _LOCKED:
        raise BusyError(waited_s, _ANOTHER) from error
    if state == _TIMED_OUT:
        raise InvalidInputError("This took too long and was stopped.", "Ask for less at a time.") from error
    if state in _FULL:
        raise NoSpaceError(f"the database at {where}") from error
    if state in _SEALED:
        raise ReadOnlyError(f"the database at {where} lets nothing be written ({_reason(error)})") from error
    if state in _DAMAGED:
        raise DamagedError(f"The database at {where}", "Its server's log says more.") from error
    if state == _TOO_LONG:
        raise InvalidInputError("A name or a path is too long.", "At most about 2,000 characters.") from error
    raise error


def _reason(error: psycopg.Error) -> str:
    """Return the server's own words in short, without the statement and its values."""
    told = error.diag.message_primary or str(error).strip().partition("\n")[0]
    return " ".join(told.split())[:200] or error.__class__.__name__
