"""A project of 10,000 entries: every page is there at once, whichever part of it is asked for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pinfold.server.ui.routes import NAMED
from pinfold.store import Store
from pinfold.store.commands import Message, RecordFold
from pinfold.store.values import Caller
from tests.contract.acts import checkpoint, pin
from tests.server.person import Project
from tests.ui.looking import looking

pytestmark = [pytest.mark.anyio, pytest.mark.full]

_LIMIT_S = 0.3
_ENTRIES = 10_000
_SESSIONS = 60
_ROLES = ("user", "assistant", "tool_call", "tool_result")
_MORE = (
    "pins?before=60",
    "P90",
    "sessions?before=12",
    "s7",
    "s7?after=9000",
    "folds?before=55",
    "F30",
    "checkpoints?before=55",
    "C60",
    "C60?against=C1",
    "H5000",
    "search?query=worker+pool",
    "search?query=entry+4711",
    "search?query=nothing+of+that+kind",
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _fill(store: Store) -> None:
    callers = [Caller("claude-code", f"conversation {number}") for number in range(_SESSIONS)]
    share = _ENTRIES // _SESSIONS + 1
    for number, caller in enumerate(callers):
        said = [
            Message(_ROLES[n % 4], f"entry {number * share + n}: worker pool, {'text ' * 60}", tokens=80)
            for n in range(share)
        ]
        await store.append_messages(caller, said)
        await checkpoint(store, caller, goal=f"goal {number}", pending=tuple(f"task {n}" for n in range(20)))
        await pin(store, f"decision {number}", caller, specifics=(f"{number} ms",))
        await pin(store, f"constraint {number}", caller)
        await store.record_fold(
            RecordFold(
                caller,
                f"b{number}",
                "auto",
                tokens_before=160_000,
                tokens_after=9_000,
                present={1: 1},
                lost={1: ("0 ms",)},
            )
        )


async def test_each_page_of_a_project_of_ten_thousand_entries_takes_a_part_of_a_second(
    tmp_path: Path,
) -> None:
    """In processor time, which other work of the machine does not stretch."""
    async with looking(Project(tmp_path / "demo")) as somebody:
        await _fill(somebody.store)
        assert (await somebody.store.log_end()).seq > _ENTRIES
        await somebody.at("")  # the tokenizer is loaded before the address is told
        taken: dict[str, float] = {}
        for page in (*NAMED, *_MORE):
            begun = time.process_time()
            await somebody.at(page)
            taken[page] = time.process_time() - begun
        assert {page: round(s, 3) for page, s in taken.items() if s > _LIMIT_S} == {}
