"""One server for all tests of a module that leave it as it was; each makes its own tokens and projects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http.serving import Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that wants tokens: there is one, of nobody."""
    folder = tmp_path_factory.mktemp("served")
    with served(folder) as running:
        running.token("nobody", "nothing")
        yield running
