"""The clients, installed once, and their visits, each played once for all tests that look at it."""

from __future__ import annotations

import pytest

from tests.clients import life as lives
from tests.clients import programs
from tests.clients.clients import Place
from tests.clients.life import Life, live
from tests.clients.story import KINDS, Visit, begin_user, play


@pytest.fixture(scope="session")
def installed() -> None:
    """The pinned clients lie in `.clients/`."""
    try:
        programs.install()
    except programs.OutOfReachError as missing:
        pytest.skip(f"the real clients are not here: {missing}")


@pytest.fixture(scope="session", params=KINDS)
def visit(request: pytest.FixtureRequest, installed: None, tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """One client's two conversations in a new project."""
    return play(KINDS[request.param], begin_user(tmp_path_factory.mktemp(request.param).resolve()))


@pytest.fixture(scope="session", params=lives.KINDS)
def life(request: pytest.FixtureRequest, installed: None, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """One client's long life in a new project."""
    return live(lives.KINDS[request.param], begin_user(tmp_path_factory.mktemp(request.param).resolve()))


@pytest.fixture
def place(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A user who has not started any client yet."""
    return begin_user(tmp_path_factory.mktemp("registration").resolve())
