"""The C side of SQLite's file layer as ctypes knows it: https://sqlite.org/c3ref/vfs.html and io_methods.html."""

from __future__ import annotations

from ctypes import CFUNCTYPE, Structure, c_char_p, c_int, c_int64, c_void_p

OK = 0
SHM_LOCK = 2
"""The flag of `xShmLock` that asks for a lock; without it, one is given back."""

OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
DELETE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
CLOSE = CFUNCTYPE(c_int, c_void_p)
TRANSFER = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
SHM_MAP = CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p)
SHM_LOCKING = CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int)


class Vfs(Structure):
    """`sqlite3_vfs`, version 3."""

    _fields_ = (
        ("iVersion", c_int),
        ("szOsFile", c_int),
        ("mxPathname", c_int),
        ("pNext", c_void_p),
        ("zName", c_char_p),
        ("pAppData", c_void_p),
        ("xOpen", OPEN),
        ("xDelete", DELETE),
        *((f"other{number}", c_void_p) for number in range(14)),
    )


class Methods(Structure):
    """`sqlite3_io_methods`, version 3."""

    _fields_ = (
        ("iVersion", c_int),
        ("xClose", CLOSE),
        ("xRead", TRANSFER),
        ("xWrite", TRANSFER),
        ("xTruncate", TRUNCATE),
        ("xSync", SYNC),
        *((name, c_void_p) for name in ("xFileSize", "xLock", "xUnlock", "xCheckReservedLock")),
        *((name, c_void_p) for name in ("xFileControl", "xSectorSize", "xDeviceCharacteristics")),
        ("xShmMap", SHM_MAP),
        ("xShmLock", SHM_LOCKING),
        *((name, c_void_p) for name in ("xShmBarrier", "xShmUnmap", "xFetch", "xUnfetch")),
    )


class File(Structure):
    """`sqlite3_file`: what the file layer keeps of an open file begins with its methods; NULL if it is not open."""

    _fields_ = (("methods", c_void_p),)
