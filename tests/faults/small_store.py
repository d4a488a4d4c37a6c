"""A store of some eighty pages that is verified in an instant: two pins, a log, and bytes that no search reads."""

from __future__ import annotations

import random
from pathlib import Path

from pinfold.store.commands import Outline, SpillArtifact
from pinfold.store.content import collect
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import ANNA, pin, spill


async def make_small(folder: Path) -> None:
    store = await open_store(folder, "demo")
    await pin(store, "Retry 7 times")
    await pin(store, "Use port 5544")
    await spill(store, b"first line\nsecond line\n" * 50, label="log")
    held = collect([random.Random(7).randbytes(250_000)])
    outline = Outline("application/octet-stream", "", 0)
    await store.spill_artifact(SpillArtifact(ANNA, held, outline, label="noise"))
    held.close()
    await store.close()
