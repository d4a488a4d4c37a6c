"""A project in which every text that can be stored tries to be more than a text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio

from pinfold.store import Store
from pinfold.store.commands import (
    CheckpointState,
    Message,
    Outline,
    PinDecision,
    RecordFold,
    SpillArtifact,
    StartSession,
)
from pinfold.store.content import collect
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.contract.acts import find
from tests.server.person import Project

NAME = "<img src=x onerror=document.title='ran'>"
"""What a folder can be called."""

EVIL = (
    "</script></style></title></pre><script>document.title='ran'</script><img src=//evil.example/x.png onerror=\""
    "document.title='ran'\"> \"><svg onload=document.title='ran'> <a href=javascript:document.title='ran'>click</a>"
    " <iframe src=//evil.example></iframe> <style>@import '//evil.example/x.css'</style> {{ 7 * 7 }} {% raw %}"
    " \x1b[31mred \u202eevil\u202c\u2028 <form action=//evil.example><button>go</button></form>"
)
LONG = "W" * 1_000_000
CALLER = Caller(f"client {EVIL}", f"conversation {EVIL}", head="<b>", branch=EVIL)
PAGES = (
    "",
    "brief",
    "pins",
    "P1",
    "P2",
    "sessions",
    "s1",
    "folds",
    "F1",
    "artifacts",
    "A1",
    "A2",
    "A3",
    "A3?byte=65536",
    "checkpoints",
    "C2",
    "misses",
    "S1",
    "H2",
    "H3",
    "H3?byte=65536",
    "search?query=evil",
    "search?query=%22%3E%3Csvg+onload%3Ddocument.title%3D1%3E+evil&path=%3Cb%3E",
)


def hostile(folder: Path) -> Project:
    """Return the project; its folder, which names it, is hostile too."""
    project = Project(folder / NAME)
    anyio.run(_fill, project)
    return project


async def _fill(project: Project) -> None:
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    try:
        await store.start_session(StartSession(CALLER))
        await store.append_messages(
            CALLER,
            [
                Message("tool_call", EVIL, EVIL, tool=EVIL, call_id=EVIL, files=(EVIL,), tokens=5),
                Message("tool_result", f"{EVIL}{LONG}", tool=EVIL, tokens=7),
            ],
        )
        await store.pin_decision(
            PinDecision(CALLER, EVIL, EVIL, files=(EVIL,), specifics=(EVIL, "WW" * 300), tokens=9)
        )
        await store.pin_decision(PinDecision(CALLER, "W" * 1_900, "W" * 900, supersedes=(1,), tokens=9))
        await _spill(store, EVIL.encode() * 20, EVIL)
        await _spill(store, b"\0\xff<script>\x1b[2J" * 400, "binary")
        await _spill(store, LONG.encode(), "W" * 400)
        state = CheckpointState(CALLER, goal=EVIL, next_step=EVIL)
        await store.checkpoint_state(replace(state, pending=(EVIL,), files=("W" * 900,)))
        await store.checkpoint_state(replace(state, done=(EVIL,), facts=("W" * 900,)))
        await _fold(store)
        await find(store, f"{EVIL} nothing of that kind", CALLER)
    finally:
        await store.close()


async def _spill(store: Store, content: bytes, label: str) -> None:
    held = collect([content])
    outline = Outline(
        EVIL if label == EVIL else "text/plain", EVIL, 0 if label == "binary" else 9, json_state=EVIL
    )
    name = label[:400]
    await store.spill_artifact(SpillArtifact(CALLER, held, outline, label=name, source=name, path=name))
    held.close()


async def _fold(store: Store) -> None:
    held = collect([EVIL.encode()])
    await store.record_fold(
        RecordFold(
            CALLER,
            "b1",
            EVIL,
            tokens_before=9,
            tokens_after=3,
            summary=SpillArtifact(CALLER, held, Outline("text/plain", EVIL, 9), label=EVIL),
            present={1: 2, 2: 1},
            lost={1: (EVIL, "W" * 600), 2: (EVIL,)},
            offered=(("H2", EVIL),),
            strings=((EVIL, "H2"), ("W" * 600, "H3")),
        )
    )
    held.close()
