"""What a person's search shows beside its hits."""

from __future__ import annotations

from pathlib import Path

import anyio

from pinfold.store.commands import Message
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import spill
from tests.server.person import ANNA, Project, with_a_past

TWICE = "the gateway refused the handshake"


async def _say_twice_and_spill(project: Project) -> None:
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    try:
        await store.append_messages(ANNA, [Message("user", TWICE), Message("assistant", TWICE)])
        await spill(store, b"a line of a long log\n" * 420_000)
    finally:
        await store.close()


def test_a_person_sees_what_reads_the_same_and_what_was_searched_in_part(tmp_path: Path) -> None:
    project = with_a_past(tmp_path / "app")
    anyio.run(_say_twice_and_spill, project)
    (row,) = project.lines("search", TWICE)
    assert row[5:] == [TWICE, f"like it: H{int(row[0][1:]) - 1}"]
    assert "Searched at both ends only: A" in project.run("search", "zyzzyva").stderr
    assert "both ends" not in project.run("search", TWICE).stderr
