from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pinfold.store.errors import DamagedError
from pinfold.store.sqlite.glance import glance
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import ANNA, BEN, checkpoint, pin, spill

pytestmark = pytest.mark.anyio


async def test_a_glance_shows_what_the_store_shows(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store", "demo")
    first = await pin(store, "use uuid7")
    await checkpoint(store, goal="ship")
    await pin(store, "only here", caller=BEN, session_only=True)
    await spill(store, b"a log\n", label="run")
    for caller, as_of in ((ANNA, None), (BEN, None), (None, None), (ANNA, first.receipt.seq)):
        state, fence = glance(tmp_path / "store", caller, as_of)
        assert state == await store.brief_state(caller, as_of)
        assert fence("brief") == store.fence("brief")
    await store.close()


async def test_a_glance_at_what_is_no_store_says_so(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes(b"x" * 4096)
    with pytest.raises(DamagedError):
        glance(tmp_path, None)


def test_the_brief_command_loads_neither_the_sdk_nor_the_tokenizer_nor_an_event_loop() -> None:
    program = (
        "import sys; import pinfold.server.cli, pinfold.server.settings, pinfold.server.commands.brief_report;"
        "print(sorted({'mcp', 'tiktoken', 'rich', 'asyncio', 'anyio', 'pydantic', 'portalocker'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "[]", done.stderr
