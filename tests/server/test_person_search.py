"""What a person's search shows beside its hits."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

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


def test_a_person_sees_what_reads_the_same_and_what_was_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = with_a_past(tmp_path / "app")
    anyio.run(_say_twice_and_spill, project)
    (row,) = project.lines("search", TWICE)
    assert row[5:] == [TWICE, f"like it: H{int(row[0][1:]) - 1}"]
    assert "Looked through from end to end: A" in project.run("search", "zyzzyva").stderr
    assert "end to end" not in project.run("search", TWICE).stderr
    monkeypatch.setattr("pinfold.store.sql.search.middles.LOOK_S", 0.0)
    assert "Searched at both ends only: A" in project.run("search", "zyzzyva").stderr


async def _repeat(project: Project) -> None:
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    await store.append_messages(ANNA, [Message("user", TWICE) for _ in range(9)])
    await store.close()


def test_a_page_of_repeats_is_not_told_as_nothing_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinfold.store.sql.search.page.READ_CHARS", 100)
    project = with_a_past(tmp_path / "app")
    anyio.run(_repeat, project)
    cursor = json.loads(project.run("search", TWICE, "--json").stdout)["next"]
    told = project.run("search", TWICE, "--cursor", cursor)
    facts = json.loads(project.run("search", TWICE, "--cursor", cursor, "--json").stdout)
    assert (facts["hits"], facts.get("advice")) == ([], None)
    assert f"Like hits of earlier pages: {', '.join(facts['repeats'])}." in told.stderr
    assert "nothing new on this page" in told.stderr
    assert "nothing found" not in told.stderr + json.dumps(facts)
