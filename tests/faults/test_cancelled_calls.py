"""Each tool, called as a server calls it and cancelled at each of its turns (P3, F10)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from pinfold.server.service import Service
from pinfold.server.settings import Settings, read_settings
from pinfold.tools import TOOLS, Reply, call
from tests.faults.leaks import PATIENCE_S, nothing_left
from tests.faults.turns import Cut, by_scope
from tests.server.written import SESSION, Written, transcript

SAID = "the walrus pool timed out"
MOST_TURNS = 200
WRITES: dict[str, dict[str, Any]] = {
    "pin_decision": {"text": "use Redis", "why": "measured"},
    "spill_artifact": {"path": "build.log", "label": "build"},
    "checkpoint_state": {"goal": "ship it", "pending": ["write the changelog"]},
}
READS: dict[str, dict[str, Any]] = {
    "fetch_pointer": {"pointer": "A1", "match": "walrus"},
    "search_history": {"query": SAID},
}


async def _call(service: Service, tool: str, arguments: dict[str, Any]) -> Reply:
    """Do what the server does for one call."""
    desk = await service.desk("claude-code", {})
    if tool == "search_history":
        await service.read_on(desk)
    return await call(desk, tool, arguments)


@pytest.fixture
def client(tmp_path: Path, project: Path) -> Iterator[Path]:
    """A project with a long file, in the middle of a conversation that the client writes down."""
    (project / "build.log").write_text(f"{SAID}\n" * 2_000)
    transcript(tmp_path, [Written(cwd=project).says(SAID)])
    known = {"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    with patch.dict("os.environ", known):
        yield project


def _settings(project: Path, name: str) -> Settings:
    return read_settings({"PINFOLD_HOME": str(project.parent / "homes" / name)}, project)


def _kinds(settings: Settings) -> list[str]:
    """The kinds of the events but for misses, of which there is one for each search before the transcript was read."""
    with closing(sqlite3.connect(settings.store_folder / "log.db")) as link:
        kinds = link.execute("SELECT kind FROM event WHERE kind <> 'search.missed' ORDER BY seq")
        return [row[0] for row in kinds]


async def _cut_once(settings: Settings, tool: str, arguments: dict[str, Any], turn: int) -> Cut:
    """Cancel the first call of a server at one of its turns; the second one is served as if nothing had been."""
    service = Service(settings)
    with anyio.fail_after(PATIENCE_S):
        try:
            if tool == "fetch_pointer":
                await _call(service, "spill_artifact", WRITES["spill_artifact"])
            cut = await by_scope(partial(_call, service, tool, arguments), turn, lambda: None)
            if tool == "search_history":
                await _search_until_found(service)
            else:
                await _call(service, tool, arguments)
        finally:
            await service.close()
    return cut


async def _search_until_found(service: Service) -> None:
    """Search; a reading of the transcript that a cancelled search began may still go on meanwhile."""
    while not (await _call(service, "search_history", READS["search_history"])).structured["hits"]:
        await anyio.lowlevel.checkpoint()


async def _cut_at_each_turn(project: Path, tool: str, arguments: dict[str, Any]) -> list[Cut]:
    calm = Service(_settings(project, "calm"))
    if tool == "fetch_pointer":
        await _call(calm, "spill_artifact", WRITES["spill_artifact"])
    await _call(calm, tool, arguments)
    await calm.close()
    expected = _kinds(calm.settings)
    cuts: list[Cut] = []
    for turn in range(1, MOST_TURNS):
        settings = _settings(project, str(turn))
        cut = await _cut_once(settings, tool, arguments, turn)
        assert _kinds(settings) == expected, turn
        if not cut.happened:
            return cuts
        cuts.append(cut)
    raise AssertionError(f"{tool} never ends")


@pytest.mark.parametrize("tool", [*WRITES, *READS])
def test_a_call_cancelled_at_any_turn_is_whole_or_absent_and_the_next_one_is_served(
    client: Path, tool: str
) -> None:
    with nothing_left():
        cuts = anyio.run(_cut_at_each_turn, client, tool, (WRITES | READS)[tool])
    print(f"{tool}: {len(cuts)} cancels, {sum(each.stopped for each in cuts)} callers stopped")
    assert len(cuts) > 3
    assert sum(each.stopped for each in cuts) > 1


def test_each_tool_is_cancelled_somewhere_here() -> None:
    assert {*WRITES, *READS} == {tool.name for tool in TOOLS}
