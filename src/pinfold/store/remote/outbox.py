"""What a team's server could not be told yet: a file each, in order, on this machine.

A file is a request as it would have been sent, without secrets and with a key, so that it can be sent twice and counts
once. It is there whole or not at all, and goes when the server has acknowledged it. Source: docs/decisions/0017.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pinfold.store.errors import FULL, BusyError, NoSpaceError, PinfoldError, ReadOnlyError
from pinfold.store.file_lock import lock, unlock
from pinfold.store.private_files import make_private_folder, sync_folder

MAX_BYTES = 64 * 1024 * 1024
MAX_ITEMS = 10_000
_DIGITS = 12
_REFUSED = ".refused"
_NAME = re.compile(rf"[0-9]{{{_DIGITS}}}\.(?P<kind>[a-z_]+)(?:\.refused)?")
_WAIT_S = 1.0
_LOOK_S = 0.01


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits: `kind` is a verb, or another thing that the program knows to do later.

    `is_refused`: the server will never take it. `at` is when it was put here, in seconds since 1970.
    """

    path: Path
    kind: str
    at: float
    size_bytes: int
    is_refused: bool

    @property
    def number(self) -> int:
        """Its place in the order."""
        return int(self.path.name[:_DIGITS])

    def blocks(self) -> Iterator[bytes]:
        """Yield what is to be sent."""
        with open(self.path, "rb") as file:
            yield from iter(lambda: file.read(256 * 1024), b"")


class Outbox:
    """The outbox for one server, in a folder of its own; for any number of processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def waiting(self) -> list[Waiting]:
        """Return what waits, and what was refused, in order."""
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        return [found for name in names if (found := self._found(name)) is not None]

    def to_send(self) -> list[Waiting]:
        """Return what waits and was not refused, in order."""
        return [each for each in self.waiting() if not each.is_refused]

    def add(self, kind: str, blocks: Iterable[bytes], size_bytes: int) -> None:
        """Put something at the end; it is on the disk when this returns.

        Raises `NoSpaceError` where it would be too much, or the disk is full, and `ReadOnlyError` for another fault.
        """
        try:
            self._add(kind, blocks, size_bytes)
        except OSError as error:
            raise _unwritable(error) from error

    def _add(self, kind: str, blocks: Iterable[bytes], size_bytes: int) -> None:
        make_private_folder(self._folder)
        with self._locked("adding", _WAIT_S) as is_ours:
            if not is_ours:
                raise BusyError(_WAIT_S, "another hook that writes into the outbox")
            there = self.waiting()
            if len(there) >= MAX_ITEMS or size_bytes + sum(each.size_bytes for each in there) > MAX_BYTES:
                raise NoSpaceError(
                    "the outbox", hint="`pinfold outbox --send` empties it when the team's server is there."
                )
            number = there[-1].number + 1 if there else 1
            self._write(f"{number:0{_DIGITS}d}.{kind}", blocks)

    def _write(self, name: str, blocks: Iterable[bytes]) -> None:
        unfinished = self._folder / "unfinished"
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        os.rename(unfinished, self._folder / name)
        sync_folder(self._folder)

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Take turns at sending: whether it is ours, for the time of the block."""
        if not self._folder.exists():
            yield False
            return
        with self._locked("sending", 0) as is_ours:
            yield is_ours

    def sent(self, what: Waiting) -> None:
        """Take something out that the server has acknowledged."""
        what.path.unlink(missing_ok=True)
        sync_folder(self._folder)

    def refused(self, what: Waiting) -> None:
        """Set something aside that the server will never take; it stays until a person removes it."""
        what.path.rename(what.path.with_name(f"{what.path.name}{_REFUSED}"))
        sync_folder(self._folder)

    def _found(self, name: str) -> Waiting | None:
        """Return what waits under a name; None for what is none of ours, or was sent meanwhile."""
        shape, path = _NAME.fullmatch(name), self._folder / name
        try:
            known = path.lstat()
        except FileNotFoundError:
            return None
        if shape is None or not stat.S_ISREG(known.st_mode):
            return None
        return Waiting(path, shape["kind"], known.st_mtime, known.st_size, name.endswith(_REFUSED))

    @contextmanager
    def _locked(self, name: str, wait_s: float) -> Iterator[bool]:
        """Hold a lock for the time of the block where it can be had soon; a hook waits for nobody who stands still."""
        handle = os.open(self._folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + wait_s
        try:
            while not (is_ours := lock(handle, wait=False)) and time.monotonic() < deadline:
                time.sleep(_LOOK_S)
            yield is_ours
            if is_ours:
                unlock(handle)
        finally:
            os.close(handle)


def _unwritable(error: OSError) -> PinfoldError:
    if error.errno in FULL:
        return NoSpaceError("the outbox", hint="Free some space: what was to be kept there is not kept.")
    return ReadOnlyError(
        f"the outbox cannot be written ({error.strerror})", "What was to be kept there is not."
    )
