"""Fixtures of the fault tests: a `home` for stores and a `project` folder, both new."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinfold.store.sqlite.connection import Place


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
