"""A configuration file on disk: read as it is, written whole or not at all, through links, with its mode."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pinfold.store.errors import ConflictError, InvalidInputError


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read. `real` is where a link leads; `content` None: there is none."""

    path: Path
    real: Path
    content: bytes | None


def read(path: Path) -> ConfigFile:
    """Read a file that need not exist. Raises `InvalidInputError` for what is no regular file or not readable."""
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInputError(f"{path} is no file.", "Move it out of the way and try again.")
        return ConfigFile(path, real, real.read_bytes())
    except FileNotFoundError:
        return ConfigFile(path, real, None)
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be read: {error.strerror}.", "Mend that and try again."
        ) from None


def missing_folders(file: ConfigFile) -> list[Path]:
    """Return the folders that have to be made for a file, outermost first."""
    return [folder for folder in reversed(file.real.parents) if not folder.exists()]


def write(file: ConfigFile, content: bytes, new_mode: int) -> None:
    """Replace what was read by `content` in one step; a new file gets `new_mode`.

    Raises `InvalidInputError` when the file or its folder may not be written, `ConflictError` when somebody
    else wrote it since it was read.
    """
    try:
        mode = stat.S_IMODE(file.real.stat().st_mode) if file.content is not None else new_mode
        if not mode & stat.S_IWUSR:
            raise InvalidInputError(f"{file.path} is read-only.", "Make it writable and try again.")
        file.real.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, content, mode)
    except OSError as error:
        raise InvalidInputError(
            f"{file.path} cannot be written: {error.strerror}.", "Mend that and try again."
        ) from None


def _replace(file: ConfigFile, content: bytes, mode: int) -> None:
    beside = file.real.with_name(f".{file.real.name}.pinfold-{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        os.chmod(beside, mode)
        if file.content is not None:
            _keep_owner(file.real, beside)
        _expect_unchanged(file)
        os.replace(beside, file.real)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


def _keep_owner(real: Path, beside: Path) -> None:
    """Leave a file to its owner when somebody else, root say, changes it."""
    owner, ours = real.stat(), beside.stat()
    if (owner.st_uid, owner.st_gid) != (ours.st_uid, ours.st_gid) and hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(beside, owner.st_uid, owner.st_gid)


def _expect_unchanged(file: ConfigFile) -> None:
    """Raise when a running client wrote its configuration meanwhile: its words must not be lost."""
    if read(file.path).content != file.content:
        raise ConflictError(f"{file.path} was changed by another program meanwhile.", "Try again.")


def remove(file: ConfigFile, folders: list[Path]) -> None:
    """Remove a file that we made, and those of `folders` that are empty then. A link stays."""
    _expect_unchanged(file)
    try:
        file.real.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"{file.path} cannot be removed: {error.strerror}.", "Mend that and try again."
        ) from None
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()
