"""Folders and files that are the user's alone, and outlast a power cut. Source: P2, P25."""

from __future__ import annotations

import os
from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make a folder, and every missing one above it, for this user alone. Raises `OSError`."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):  # `parents=True` would make those above for everybody
        each.mkdir(mode=0o700, exist_ok=True)
        sync_folder(each.parent)


def write_private(path: Path, content: bytes) -> None:
    """Put a file in its place, whose folder is made if need be; others see the old one or the new one, both whole.

    Raises `OSError`.
    """
    make_private_folder(path.parent)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
        sync_folder(path.parent)
    finally:
        fresh.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a new name in `folder` outlast a power cut; a platform without that goes without."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
