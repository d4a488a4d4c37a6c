"""Where an export goes: standard output, or a file that is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NoReturn

from pinfold.server.terminals import standard_output
from pinfold.store.errors import FULL, ConflictError, InvalidInputError, NoSpaceError


@contextmanager
def destination(path: Path | None, *, overwrite: bool) -> Iterator[IO[str]]:
    """Yield what to write to. A file is made beside its place, for this user alone, and put there when it is whole.

    Raises `ConflictError` for what is there already, `NoSpaceError` or `InvalidInputError` where it cannot be.
    """
    if path is None:
        yield standard_output()
        standard_output().flush()
        return
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.{os.getpid()}.part")
    _check(real, overwrite=overwrite)
    try:
        with _new(beside) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _check(real, overwrite=overwrite)
        os.replace(beside, real)
    except OSError as error:
        _refuse(error, real)
    finally:
        beside.unlink(missing_ok=True)


def _check(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not (overwrite and path.is_file()):
        way = "Name another file, or say --force." if path.is_file() else "Name a file."
        raise ConflictError(f"{path} is there already; nothing was written.", way)


def _refuse(error: OSError, path: Path) -> NoReturn:
    if error.errno in FULL:
        raise NoSpaceError(str(path.parent)) from error
    raise InvalidInputError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from error


def _new(path: Path) -> IO[str]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", newline="\n")
