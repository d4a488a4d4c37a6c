"""What a store did to its disk, call by call, with marks where something was asked for and acknowledged."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from tests.faults.layer.shim import OK, FileCall, Go, shim

_MAIN_DATABASE = 0x00000100
"""The flag of `xOpen` for a database; any other file has its name made lasting with its first sync."""


@dataclass(frozen=True, slots=True)
class Created:
    """A new file. `name_lasts`: SQLite syncs the folder, too, when it syncs the file for the first time."""

    name: str
    name_lasts: bool


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes, handed to the system."""

    name: str
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Resized:
    """A file cut short."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """All bytes of a file, on the disk now."""

    name: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """A file that is gone; `lasts` when the folder was synced with it."""

    name: str
    lasts: bool


@dataclass(frozen=True, slots=True)
class FolderSynced:
    """All names of the folder, on the disk now."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of the store's begins."""

    key: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A call of the store's came back; a receipt where it gives one, else the seq of the log's end."""

    key: str
    receipt: str


Step: TypeAlias = Created | Written | Resized | Synced | Deleted | FolderSynced | Asked | Acknowledged


@dataclass
class Recording:
    """A folder's files as they were, and all steps since."""

    folder: Path
    before: dict[str, bytes] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record SQLite's calls and the process's own syncs."""
        if self.folder.exists():
            self.before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self._known = set(self.before)
        with patch.object(os, "fsync", self._syncing(os.fsync)), shim().leading_to(self._on_call):
            yield

    def mark(self, step: Asked | Acknowledged) -> None:
        """Set a mark."""
        with self._turn:
            self.steps.append(step)

    def _on_call(self, call: FileCall, go: Go) -> int:
        path = Path(call.path)
        if path.parent != self.folder:
            return go(call)
        with self._turn:  # so that the order of the steps is that of the calls
            code = go(call)
            if code == OK:
                self._note(call, path.name)
        return code

    def _note(self, call: FileCall, name: str) -> None:
        match call.kind:
            case "open" if name not in self._known:
                self._known.add(name)
                self.steps.append(Created(name, name_lasts=not call.flags & _MAIN_DATABASE))
            case "write":
                self.steps.append(Written(name, call.offset, call.content))
            case "truncate":
                self.steps.append(Resized(name, call.offset))
            case "sync":
                self.steps.append(Synced(name))
            case "delete":
                self._known.discard(name)
                self.steps.append(Deleted(name, lasts=bool(call.flags)))

    def _syncing(self, system: Callable[[int], None]) -> Callable[[int], None]:
        def fsync(fd: int) -> None:
            system(fd)
            self._note_sync(os.fstat(fd))

        return fsync

    def _note_sync(self, synced: os.stat_result) -> None:
        if not self.folder.exists():
            return  # it is being made
        if os.path.samestat(synced, self.folder.stat()):
            self.steps.append(FolderSynced())
            return
        for path in self.folder.iterdir():
            if path.is_file() and os.path.samestat(synced, path.stat()):
                whole = Written(path.name, 0, path.read_bytes())
                self.steps += (Created(path.name, name_lasts=False), whole, Synced(path.name))
