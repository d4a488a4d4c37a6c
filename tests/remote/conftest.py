"""Fixtures: a team's server and a client away from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.serving import Served, served
from tests.remote.away import PROJECT, Away, Way, way_to


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for all tests of a file: each asks for a project of its own, or for one that others know, too."""
    with served(tmp_path_factory.mktemp("team")) as found:
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server of the test's own."""
    (tmp_path / "team").mkdir()
    with served(tmp_path / "team") as found:
        yield found


@pytest.fixture
def token(server: Served) -> str:
    return server.token("anna", PROJECT)


@pytest.fixture
def way(server: Served) -> Iterator[Way]:
    with way_to(server.port) as found:
        yield found


@pytest.fixture
def away(tmp_path: Path, way: Way, token: str) -> Away:
    (tmp_path / "away").mkdir()
    return Away(tmp_path / "away", way.port, token)
