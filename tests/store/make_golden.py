"""Makes the golden database of the present schema: run once when a schema is released, before it is changed.

`python -m tests.store.make_golden` writes `golden/schema-N.db.zst` beside this file, and never over an older one.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import anyio

from pinfold.store.commands import (
    CheckpointState,
    CommitProjection,
    Message,
    Outline,
    PinDecision,
    RecordFold,
    SearchHistory,
    SpillArtifact,
    StartSession,
    TranscriptMark,
)
from pinfold.store.content import collect
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place
from pinfold.store.sqlite.store import SqliteStore, open_store
from pinfold.store.values import Caller, PinKind, Stale

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GOLDEN = Path(__file__).parent / "golden"
ANNA = Caller("claude-code", "anna", head="0f3c9aa", branch="main")
BEN = Caller("codex", "ben")


def golden_of(schema: int) -> Path:
    """Where the golden database of a schema lies."""
    return GOLDEN / f"schema-{schema}.db.zst"


async def fill(store: SqliteStore) -> None:
    """Write at least one of everything that a store can hold."""
    await store.start_session(StartSession(ANNA, run="1", transcript="/t.jsonl", model="a-model"))
    await store.pin_decision(PinDecision(ANNA, "Retry 7 times", "the gateway drops 1 in 50", tokens=9))
    await store.pin_decision(PinDecision(ANNA, "Use port 5544", "5432 is taken", files=("db.py",), tokens=9))
    await store.pin_decision(
        PinDecision(ANNA, "Use port 5545", "5544 is taken, too", supersedes=(2,), tokens=9)
    )
    await store.pin_decision(PinDecision(BEN, "No ORM", "tried, too slow", kind=PinKind.DEAD_END, tokens=9))
    await _spill(store, b"first line\nsecond line\n" * 9_000, "log")
    told = await store.append_messages(
        ANNA,
        [Message("user", "hello walrus", "m1"), Message("tool_result", "3 passed", "m2", tool="Bash")],
        TranscriptMark("/t.jsonl", "claude-code", "anna", 120, "0f" * 16),
    )
    await store.commit_projection(CommitProjection(ANNA, reclaimed={told.last_seq: Stale.OLD}))
    await store.checkpoint_state(
        CheckpointState(ANNA, "ship", pending=("tests",), next_step="run them", tokens=9)
    )
    held = collect([b"They talked of walruses.\n"])
    summary = SpillArtifact(ANNA, held, Outline("text/plain", "They", 5), label="summary", aside=True)
    offered = (("H7", "hello walrus"),)
    await store.record_fold(
        RecordFold(ANNA, "fold-1", "auto", summary=summary, lost={1: ("7",)}, present={1: 0}, offered=offered)
    )
    held.close()
    await store.search_history(SearchHistory(ANNA, "walrus"))
    await store.search_history(SearchHistory(ANNA, "nowhereatall"))


async def _spill(store: SqliteStore, content: bytes, label: str) -> None:
    held = collect([content])
    await store.spill_artifact(SpillArtifact(ANNA, held, Outline("text/plain", "first line", 9), label=label))
    held.close()


async def _make(folder: Path) -> None:
    store = await open_store(folder, "demo")
    try:
        await fill(store)
    finally:
        await store.close()


def main() -> None:
    """Make it; refuses to replace one that is there, since what was released stays as it was."""
    target = golden_of(SCHEMA_VERSION)
    if target.exists():
        sys.exit(f"{target.name} is there already")
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(_make, Path(folder))
        target.write_bytes(zstd.compress(Place(Path(folder)).database.read_bytes(), 19))
    print(f"made {target.name}, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
