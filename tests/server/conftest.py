"""Clients whose hooks a test calls: quickly without a process of their own, in the long tier over real pipes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from tests.server.hooking import Client


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.full)], ids=["called", "piped"])
def piped(request: pytest.FixtureRequest) -> bool:
    return cast(bool, request.param)


@pytest.fixture
def claude(tmp_path: Path, piped: bool) -> Client:
    return Client(tmp_path, piped=piped)


@pytest.fixture
def codex(tmp_path: Path, piped: bool) -> Client:
    return Client(tmp_path, "codex", piped=piped)


@pytest.fixture(params=["claude", "codex"])
def either(request: pytest.FixtureRequest, tmp_path: Path, piped: bool) -> Client:
    return Client(tmp_path, request.param, piped=piped)
