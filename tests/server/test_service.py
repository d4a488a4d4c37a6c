"""The desk that a call works at: which files it may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinfold.server.service import Service
from pinfold.server.settings import read_settings
from pinfold.store.errors import InvalidInputError
from pinfold.tools import call

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_the_stores_own_files_are_not_read_even_where_they_lie_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text("done")
    home = tmp_path / ".pinfold"
    settings = read_settings({"PINFOLD_HOME": str(home)}, tmp_path)
    service = Service(settings)
    desk = await service.desk("test", {})
    reply = await call(desk, "spill_artifact", {"path": "build.log"})
    assert reply.structured["pointer"] == "A1"
    for spelling in (
        settings.store_folder / "log.db",
        (settings.store_folder / "log.db").relative_to(tmp_path),
    ):
        with pytest.raises(InvalidInputError, match="belongs to pinfold itself"):
            await call(desk, "spill_artifact", {"path": str(spelling)})
    await service.close()
