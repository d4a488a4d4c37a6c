"""Fixtures of the SQLite backend's own tests: `place` is where a store may be made; nothing is there yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinfold.store.sqlite.connection import Place


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home" / "store")
