"""A file layer of our own under the SQLite that `sqlite3` uses: every call passes one function of Python.

The shim is a copy of the system's layer with `xOpen` and `xDelete` replaced. A file is opened by the system's layer, in
place; then its methods are swapped for a copy of which some lead to us, and from us to the system's. So nothing
has to be wrapped, and whatever we do not look at (locks, sizes, the shared memory itself) stays the system's own.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from tests.faults.layer.structures import (
    CLOSE,
    DELETE,
    OK,
    OPEN,
    SHM_LOCK,
    SHM_LOCKING,
    SHM_MAP,
    SYNC,
    TRANSFER,
    TRUNCATE,
    File,
    Methods,
    Vfs,
)

Kind: TypeAlias = Literal["open", "read", "write", "truncate", "sync", "delete", "shm_map", "shm_lock"]


@dataclass(frozen=True, slots=True)
class FileCall:
    """One call of SQLite's: `offset` and `amount` in bytes; `flags` are those of opening, deleting or syncing."""

    kind: Kind
    path: str
    offset: int = 0
    amount: int = 0
    flags: int = 0
    address: int = 0

    @property
    def content(self) -> bytes:
        """What a write would write; only during the call."""
        return ctypes.string_at(self.address, self.amount)


Go: TypeAlias = Callable[[FileCall], int]
"""Does the call, or a smaller one, and returns SQLite's result code."""

Hook: TypeAlias = Callable[[FileCall, Go], int]


class OutOfReachError(Exception):
    """This Python's SQLite does not show its file layer."""


class Shim:
    """The layer. Lives as long as the process: SQLite keeps pointers to it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._system = Vfs.from_address(library.sqlite3_vfs_find(None))
        self._vfs = Vfs.from_buffer_copy(self._system)
        self._vfs.zName = b"pinfold-faults"
        self._vfs.xOpen, self._vfs.xDelete = OPEN(self._open), DELETE(self._delete)
        self._ours: dict[int, Methods] = {}
        self._open_files: dict[int, tuple[str, Methods]] = {}
        self._hook: Hook | None = None
        self._broken: list[BaseException] = []
        self._close = CLOSE(self._on_close)

    def lead_to(self, hook: Hook) -> None:
        """Have every file that is opened from now on pass `hook`, whatever thread opens it."""
        self._hook, self._broken = hook, []
        self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)

    @contextmanager
    def leading_to(self, hook: Hook) -> Iterator[None]:
        """Do so for a while, then raise what the hook raised: C cannot."""
        self.lead_to(hook)
        try:
            yield
        finally:
            self._library.sqlite3_vfs_unregister(ctypes.byref(self._vfs))
            self._hook = None
            for error in self._broken:
                raise error  # it comes before whatever it led to

    def _pass(self, call: FileCall, go: Go) -> int:
        if self._hook is None:
            return go(call)
        try:
            return self._hook(call, go)
        except BaseException as error:
            self._broken.append(error)
            return sqlite3.SQLITE_IOERR

    def _open(self, _vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        File.from_address(file).methods = None
        path = "" if name is None else ctypes.string_at(name).decode("utf-8", "surrogateescape")

        def go(_: FileCall) -> int:
            code = int(self._system.xOpen(ctypes.addressof(self._system), name, file, flags, out))
            if File.from_address(file).methods is not None:
                self._take_over(file, path)
            return code

        return self._pass(FileCall("open", path, flags=flags), go)

    def _take_over(self, file: int, path: str) -> None:
        opened = File.from_address(file)
        address = int(opened.methods)
        self._open_files[file] = path, Methods.from_address(address)
        opened.methods = ctypes.addressof(self._leading_here(address))

    def _leading_here(self, address: int) -> Methods:
        if address not in self._ours:
            ours = Methods.from_buffer_copy(Methods.from_address(address))
            ours.xClose = self._close
            ours.xRead, ours.xWrite = TRANSFER(self._read), TRANSFER(self._write)
            ours.xTruncate, ours.xSync = TRUNCATE(self._truncate), SYNC(self._sync)
            ours.xShmMap, ours.xShmLock = SHM_MAP(self._shm_map), SHM_LOCKING(self._shm_lock)
            self._ours[address] = ours
        return self._ours[address]

    def _on_close(self, file: int) -> int:
        _, system = self._open_files.pop(file)
        return int(system.xClose(file))

    def _delete(self, _vfs: int, name: int, flags: int) -> int:
        path = ctypes.string_at(name).decode("utf-8", "surrogateescape")
        call = FileCall("delete", path, flags=flags)
        return self._pass(call, lambda _: self._system.xDelete(ctypes.addressof(self._system), name, flags))

    def _read(self, file: int, target: int, amount: int, offset: int) -> int:
        path, system = self._open_files[file]
        call = FileCall("read", path, offset, amount)
        return self._pass(call, lambda _: system.xRead(file, target, amount, offset))

    def _write(self, file: int, source: int, amount: int, offset: int) -> int:
        path, system = self._open_files[file]
        call = FileCall("write", path, offset, amount, address=source)
        return self._pass(call, lambda asked: system.xWrite(file, source, asked.amount, offset))

    def _truncate(self, file: int, size: int) -> int:
        path, system = self._open_files[file]
        return self._pass(FileCall("truncate", path, size), lambda _: system.xTruncate(file, size))

    def _sync(self, file: int, flags: int) -> int:
        path, system = self._open_files[file]
        return self._pass(FileCall("sync", path, flags=flags), lambda _: system.xSync(file, flags))

    def _shm_map(self, file: int, region: int, size: int, extend: int, out: int) -> int:
        path, system = self._open_files[file]
        call = FileCall("shm_map", path, region * size, size, extend)
        return self._pass(call, lambda _: system.xShmMap(file, region, size, extend, out))

    def _shm_lock(self, file: int, slot: int, count: int, flags: int) -> int:
        path, system = self._open_files[file]
        if not flags & SHM_LOCK:  # SQLite takes for granted that a lock can be given back
            return int(system.xShmLock(file, slot, count, flags))
        call = FileCall("shm_lock", path, slot, count, flags)
        return self._pass(call, lambda _: system.xShmLock(file, slot, count, flags))


@cache
def shim() -> Shim:
    """Return the layer of this process; raises `OutOfReachError` where there is no way to it."""
    for name in (getattr(_sqlite3, "__file__", None), None):
        try:
            library = ctypes.CDLL(name)
            found: Any = library.sqlite3_vfs_find
            version = library.sqlite3_libversion
        except (OSError, AttributeError, TypeError):
            continue
        found.restype, found.argtypes = c_void_p, (c_char_p,)
        version.restype = c_char_p
        library.sqlite3_vfs_register.argtypes = (c_void_p, c_int)
        library.sqlite3_vfs_unregister.argtypes = (c_void_p,)
        if version().decode() == sqlite3.sqlite_version:
            return Shim(library)
    raise OutOfReachError("this Python's SQLite does not show its file layer")


__all__ = ["OK", "FileCall", "Go", "Hook", "Kind", "OutOfReachError", "Shim", "shim"]
