"""Clients of real servers that note all they do and see, and the log that has to explain it, read past the store."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

import anyio

from pinfold.server.settings import read_settings
from pinfold.store.results import VerifyReport
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Receipt
from tests.faults.history import Diary, Outcome, Stored, contradictions
from tests.faults.lines import Answer, Call

_WRITING = {
    "pin_decision": ("decision.pinned", "text"),
    "spill_artifact": ("artifact.spilled", "label"),
    "checkpoint_state": ("state.checkpointed", "goal"),
}
"""Which event a tool appends, and what of it is looked at."""

_PINNED = "decision of "
KEYED = "SELECT seq, kind, key, body, digest FROM event WHERE key IS NOT NULL ORDER BY seq"


class Asked(Protocol):
    """A server that can be asked, over whatever it is asked by."""

    def together(self, calls: Sequence[Call]) -> list[Answer | None]:
        """Send calls without waiting between them; return the answers in their order, None where none came."""

    def call(self, tool: str, **arguments: object) -> Answer:
        """Send one call, which has to be answered."""


def pinning(key: str) -> Call:
    return Call("pin_decision", {"text": f"{_PINNED}{key}", "why": "measured", "key": key})


def spilling(key: str, lines: int) -> Call:
    """A spill whose last line says that it is the last."""
    content = "\n".join(f"{key} line {n} of {lines}" for n in range(1, lines + 1))
    return Call("spill_artifact", {"content": content, "label": key, "key": key})


def saving(key: str) -> Call:
    return Call("checkpoint_state", {"goal": key, "pending": [f"{key} item"], "key": key})


def ask(server: Asked, diary: Diary, calls: Sequence[Call]) -> list[Answer | None]:
    """Send writes in one breath and note what became of each."""
    notes = [
        diary.invoke(call.tool, call.arguments["key"], call.arguments[_WRITING[call.tool][1]])
        for call in calls
    ]
    answers = server.together(calls)
    for note, answer in zip(notes, answers, strict=True):
        if answer is not None and not answer.failed:
            diary.ok(note, str(answer.facts["receipt"]))
        elif answer is not None and "The outcome is unknown" not in answer.text:
            diary.fail(note)
    return answers


def look(server: Asked, diary: Diary) -> None:
    """Read all pins page by page and note them."""
    assert looked(server, diary)


def looked(server: Asked, diary: Diary) -> bool:
    """Read all pins and note them; False, and no note, where an answer is an error or missing."""
    begun = time.monotonic_ns()
    seen: dict[str, str] = {}
    page = {"pointer": "pins", "cursor": ""}
    while True:
        answer = server.together([Call("fetch_pointer", dict(page))])[0]
        if answer is None or answer.failed:
            return False
        facts = answer.facts
        texts = [item["text"] for item in facts["items"]]
        assert not seen.keys() & {text.removeprefix(_PINNED) for text in texts}
        seen |= {text.removeprefix(_PINNED): text for text in texts}
        page["cursor"] = facts.get("next", "")
        if not page["cursor"]:
            diary.saw("pin_decision", begun, seen)
            return True


def folder_of(home: Path, project: Path) -> Path:
    """Where the store of a server with these settings lies."""
    return read_settings({"PINFOLD_HOME": str(home)}, project).store_folder


def stored(folder: Path) -> list[Stored]:
    """Every event with a key, read past the store."""
    with closing(sqlite3.connect(folder / "log.db")) as link:
        return read_rows(link.execute(KEYED).fetchall())


def read_rows(rows: Sequence[tuple[int, str, str, str, bytes]]) -> list[Stored]:
    """Read what the query `KEYED` gave."""
    tools = {kind: (tool, field) for tool, (kind, field) in _WRITING.items()}
    return [
        Stored(seq, tools[kind][0], key, json.loads(body)[tools[kind][1]], digest.hex())
        for seq, kind, key, body, digest in rows
    ]


def check(folder: Path, diaries: Sequence[Diary]) -> str:
    """Fail unless the log explains all that was noted, and holds by its own digests; return the figures."""
    log = stored(folder)
    assert contradictions(diaries, log) == []
    receipts = [Receipt.read(write.receipt) for diary in diaries for write in diary.writes if write.receipt]
    report = anyio.run(_verify, folder, receipts)
    assert report.problems == ()
    assert sorted(map(str, report.held)) == sorted(map(str, receipts))
    writes = [write for diary in diaries for write in diary.writes]
    reads = sum(len(diary.reads) for diary in diaries)
    known = {write.key for write in writes if write.outcome is Outcome.OK}
    lost = len(known - {event.key for event in log})
    unknown = sum(write.outcome is Outcome.UNKNOWN for write in writes)
    return f"{len(known)} acknowledged, {unknown} without an answer, {reads} reads, {lost} lost"


async def _verify(folder: Path, receipts: Sequence[Receipt]) -> VerifyReport:
    store = await open_store(folder, "shop")
    try:
        return await store.verify(receipts=receipts)
    finally:
        await store.close()
