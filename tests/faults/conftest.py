"""Fixtures of the fault tests: a `home` for stores and a `project` folder, both new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinfold.store.sqlite.connection import Place
from tests.faults.layer.shim import OutOfReachError, shim


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    return made


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home" / "store")


@pytest.fixture
def file_layer() -> None:
    """Skip where this Python's SQLite keeps its file layer to itself."""
    try:
        shim()
    except OutOfReachError as error:
        pytest.skip(str(error))


@pytest.fixture
def unmasked() -> Iterator[Callable[[], None]]:
    """Let new files be open to all, until the test ends, as far as their makers allow."""
    kept = os.umask(0)
    os.umask(kept)

    def unmask() -> None:
        os.umask(0)

    yield unmask
    os.umask(kept)
