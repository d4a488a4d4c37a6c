"""Files that a caller names: only regular ones inside the roots are ever read, and reading never blocks.

A path is walked from its root's descriptor, one part at a time, and no link is followed at any step; what was
opened is then checked by its descriptor, so that nothing can be swapped between check and use. Windows has no
such walk: there the resolved path must equal the given one before and after opening, which a racing writer
inside the root could still defeat. Source: design 2 (spill_artifact), P22.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pinfold.store.errors import InvalidInputError, NotFoundError, PinfoldError, TooLargeError
from pinfold.store.values import MAX_PATH_CHARS

BLOCK_BYTES = 256 * 1024

_WALKS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_DIRECTORY = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_ACCEPTED = "Give the path of a regular file below the project's root."
_ACCEPTED_OUTSIDE = f"{_ACCEPTED[:-1]}, or let the user add a folder to PINFOLD_ROOTS."
_SET_ROOTS = "Set PINFOLD_ROOTS to the directories that may be read, or pass the text itself."
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a link, and links are not followed",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class UnusableRoot:
    """A directory that was asked for as a root but is not used as one, and why."""

    path: Path
    why: str


class OpenFile:
    """One regular file, open for reading once; a context manager that closes it at the end.

    `name` is relative to its root, `size_bytes` its size when it was opened.
    """

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor
        self._before = os.fstat(descriptor)
        self.size_bytes = self._before.st_size

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def blocks(self) -> Iterator[bytes]:
        """Yield the content in blocks of at most 256 KiB: several are on their way at a time.

        Raises `InvalidInputError` when the file turns out to have changed, at the latest behind its last
        block.
        """
        rest = self.size_bytes
        while block := self._read(min(rest + 1, BLOCK_BYTES)):
            rest -= len(block)
            if rest < 0:
                raise self._changed()
            yield block
        if rest or _traits(os.fstat(self._descriptor)) != _traits(self._before):
            raise self._changed()

    def _read(self, size_bytes: int) -> bytes:
        try:
            return os.read(self._descriptor, size_bytes)
        except OSError as error:
            raise _refused(self.name, error) from None

    def _changed(self) -> PinfoldError:
        return InvalidInputError(
            f"{_shown(self.name)} changed while it was read; nothing was stored.",
            "Try again when it is complete.",
        )


class Roots:
    """The directories below which files may be read by path; relative paths begin at the first usable one.

    The whole file system and a home directory are no roots: what is in `unusable` says so. Nothing below
    `closed` is read, wherever it lies.
    """

    def __init__(self, roots: Sequence[Path], closed: Path | None = None) -> None:
        self._closed = closed
        resolved = [Path(os.path.realpath(root)) for root in roots]
        reasons = [_unusable(root) for root in resolved]
        self.usable = tuple(root for root, why in zip(resolved, reasons, strict=True) if why is None)
        self.unusable = tuple(
            UnusableRoot(root, why) for root, why in zip(resolved, reasons, strict=True) if why is not None
        )

    def open(self, path: str, max_bytes: int) -> OpenFile:
        """Open a regular file with one link and at most `max_bytes` below a root.

        `path` is relative to the first root or absolute; `~` and variables are plain names, `..` is refused.
        Raises `InvalidInputError` for anything but such a file, `NotFoundError`, `TooLargeError`.
        Source: P22.
        """
        root, parts = self._located(path)
        if self._closed is not None and _lies_in(root.joinpath(*parts), self._closed):
            raise InvalidInputError(f"{_shown(path)} belongs to pinfold itself.", _ACCEPTED)
        descriptor = _walked(root, parts) if _WALKS else _resolved(root, parts)
        try:
            file = OpenFile("/".join(parts), descriptor)
            _check(file.name, descriptor, max_bytes)
        except BaseException:
            os.close(descriptor)
            raise
        return file

    def _located(self, path: str) -> tuple[Path, tuple[str, ...]]:
        """Return the root that a path lies below, and the names from there on."""
        _check_spelling(path)
        if not self.usable:
            why = [f"{_shown(str(root.path))} {root.why}" for root in self.unusable] or ["there is no root"]
            raise InvalidInputError(f"No file can be read by path: {why[0]}.", _SET_ROOTS)
        given = Path(path)
        if not given.anchor:
            return self.usable[0], _names(path, given.parts)
        located = self._below(given) if given.is_absolute() else None
        if located is None:
            raise InvalidInputError(f"{_shown(path)} is outside the roots.", _ACCEPTED_OUTSIDE)
        root, depth = located
        return root, _names(path, given.parts[depth:])

    def _below(self, given: Path) -> tuple[Path, int] | None:
        """Return the root that the path begins with, in whatever spelling, and the parts it takes there."""
        roots = {_identity(root): root for root in reversed(self.usable)}
        for depth in range(1, len(given.parts) + 1):
            try:
                root = roots.get(_identity(Path(*given.parts[:depth])))
            except OSError:
                return None
            if root is not None:
                return root, depth
        return None


def _unusable(root: Path) -> str | None:
    if not root.is_dir():
        return "is not a directory"
    if root.parent == root:
        return "is the whole file system"
    if root == Path(os.path.realpath(os.path.expanduser("~"))):
        return "is the home directory"
    return None


def _identity(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _lies_in(path: Path, folder: Path) -> bool:
    """Whether a path leads into a folder, in whatever spelling; one that is not there does not."""
    try:
        wanted = _identity(folder)
        return any(_identity(parent) == wanted for parent in path.parents)
    except OSError:
        return False


def _check_spelling(path: str) -> None:
    """Refuse what cannot be a file's path, before anything is looked up."""
    problem = None
    if not path:
        problem = "The path is empty."
    elif len(path) > MAX_PATH_CHARS:
        problem = f"The path has {len(path):,} characters; the limit is {MAX_PATH_CHARS:,}."
    elif "\0" in path:
        problem = f"{_shown(path)} holds a NUL character."
    elif path.endswith(("/", os.sep)):
        problem = f"{_shown(path)} ends with a slash and so names a directory."
    elif any("\ud800" <= char <= "\udfff" for char in path):
        problem = f"{_shown(path)} is not valid Unicode."
    if problem:
        raise InvalidInputError(problem, _ACCEPTED)


def _names(path: str, names: Sequence[str]) -> tuple[str, ...]:
    if ".." in names:
        raise InvalidInputError(f"{_shown(path)} goes up with `..`, which is not followed.", _ACCEPTED)
    if not names:
        raise InvalidInputError(f"{_shown(path)} is a directory.", _ACCEPTED)
    if not _WALKS and any(":" in name for name in names):
        raise InvalidInputError(f"{_shown(path)} names a stream.", _ACCEPTED)
    return tuple(names)


def _walked(root: Path, names: Sequence[str]) -> int:
    """Open the file that the names lead to, holding each directory while the next one is opened."""
    try:
        place = os.open(root, _DIRECTORY)
    except OSError as error:
        raise _refused(str(root), error) from None
    try:
        for depth, name in enumerate(names, 1):
            here = "/".join(names[:depth])
            is_last = depth == len(names)
            following = _step(place, name, here, _FILE if is_last else _DIRECTORY)
            os.close(place)
            place = following
    except BaseException:
        os.close(place)
        raise
    return place


def _step(place: int, name: str, here: str, flags: int) -> int:
    """Open one name in a directory. Looks before it opens, since opening a device can have effects."""
    wanted = stat.S_IFREG if flags == _FILE else stat.S_IFDIR
    try:
        found = os.stat(name, dir_fd=place, follow_symlinks=False)
        _check_kind(here, found, wanted)
        return os.open(name, flags, dir_fd=place)
    except OSError as error:
        raise _refused(here, error) from None


def _resolved(root: Path, names: Sequence[str]) -> int:
    """Open by path where there are no directory descriptors: the path must resolve to itself."""
    name = "/".join(names)
    path = root.joinpath(*names)
    try:
        found = os.lstat(path)
        _check_kind(name, found, stat.S_IFREG)
        descriptor = os.open(path, _FILE)
    except OSError as error:
        raise _refused(name, error) from None
    opened = os.fstat(descriptor)
    is_same = (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino)
    if not is_same or os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        os.close(descriptor)
        raise InvalidInputError(f"{_shown(name)} leads over a link, and links are not followed.", _ACCEPTED)
    return descriptor


def _check(name: str, descriptor: int, max_bytes: int) -> None:
    """Check what was really opened."""
    found = os.fstat(descriptor)
    _check_kind(name, found, stat.S_IFREG)
    if found.st_nlink != 1:
        raise InvalidInputError(
            f"{_shown(name)} has {found.st_nlink} hard links.", "Copy it and give the copy's path."
        )
    if found.st_size > max_bytes:
        hint = "Spill a part of it, or raise PINFOLD_MAX_ARTIFACT_BYTES."
        raise TooLargeError(_shown(name), found.st_size, max_bytes, unit="bytes", hint=hint)
    if found.st_size == 0 and _has_content(name, descriptor):
        raise InvalidInputError(
            f"{_shown(name)} is generated while it is read and may have no end.", _ACCEPTED
        )


def _has_content(name: str, descriptor: int) -> bool:
    try:
        return bool(os.read(descriptor, 1))
    except BlockingIOError:
        return True
    except OSError as error:
        raise _refused(name, error) from None


def _check_kind(name: str, found: os.stat_result, wanted: int) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind == wanted:
        return
    what = _KINDS.get(kind, "a file, not a directory" if kind == stat.S_IFREG else "not a regular file")
    raise InvalidInputError(f"{_shown(name)} is {what}.", _ACCEPTED)


def _traits(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _refused(name: str, error: OSError) -> PinfoldError:
    shown = _shown(name)
    if error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
        return NotFoundError(
            shown, "no such file below the root", f"{_ACCEPTED} `~` and variables are not expanded."
        )
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return InvalidInputError(
            f"{shown} became a link or another kind of file while it was opened.", _ACCEPTED
        )
    return InvalidInputError(f"{shown} cannot be read: {error.strerror}.", _ACCEPTED)


def _shown(name: str) -> str:
    """Return a name on one line, at most its last 80 characters, with everything unprintable escaped."""
    return repr(name if len(name) <= 80 else "…" + name[-80:])
