"""A store that may only be read: whichever verb of the contract is no read refuses."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from pinfold.server.reading_only import READS, reading_only
from pinfold.store import Store
from pinfold.store.errors import ReadOnlyError
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import ANNA, find, pin

pytestmark = pytest.mark.anyio

VERBS = {name for name, _ in inspect.getmembers(Store, inspect.isfunction) if not name.startswith("_")}
QUIET = {"search_history", "note_opened"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_store_to_read_alone_refuses_whatever_is_not_known_to_read(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store", "demo")
    try:
        await pin(store, "kept")
        end = await store.log_end()
        seen = reading_only(store)
        writes = {
            "pin_decision",
            "spill_artifact",
            "checkpoint_state",
            "append_messages",
            "forget",
            "scrub",
            "rebuild",
        }
        assert writes < VERBS - READS
        for verb in sorted(VERBS - READS - QUIET):
            with pytest.raises(ReadOnlyError, match="can only be read"):
                getattr(seen, verb)
        assert (await find(seen, "nothing of that")).pointer is None
        assert [hit.pointer for hit in (await find(seen, "kept")).hits] == ["P1"]
        await seen.note_opened(ANNA, None)  # type: ignore[arg-type]
        assert (await store.log_end(), [each.number for each in await seen.pins(None, 9)]) == (end, [1])
    finally:
        await store.close()
