"""`SqliteStore`: the contract, one file per project. Each method names its verb; the verbs are beside it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio

from pinfold.store import Progress, Store
from pinfold.store.cleaning import cleaned
from pinfold.store.commands import (
    CheckpointState,
    CommitProjection,
    Message,
    PinDecision,
    RecordFold,
    SearchHistory,
    SpillArtifact,
    StartSession,
    TranscriptMark,
)
from pinfold.store.fences import fence
from pinfold.store.forgetting import Forget, ForgetPlan, Forgotten, Retention, Scrubbed
from pinfold.store.logged import LogEnd, LoggedEvent
from pinfold.store.redaction import Redactor
from pinfold.store.results import (
    AppendedMessages,
    Artifact,
    ArtifactSlice,
    BriefState,
    Checkpoint,
    CommittedProjection,
    Entry,
    Fold,
    FoldedPart,
    Pin,
    PinHistory,
    PinnedDecision,
    RecordedFold,
    SavedCheckpoint,
    SpilledArtifact,
    StartedSession,
    StoreStatus,
    VerifyReport,
)
from pinfold.store.search_results import SearchPage, SearchRecord
from pinfold.store.session_results import Session
from pinfold.store.sqlite import briefing, folding, marks, reading, searching, sessions, slices
from pinfold.store.sqlite.appending import append_messages
from pinfold.store.sqlite.checkpointing import checkpoint_state
from pinfold.store.sqlite.connection import Place, read_meta
from pinfold.store.sqlite.forgetting.belonging import plan
from pinfold.store.sqlite.forgetting.erasing import forget
from pinfold.store.sqlite.forgetting.scrubbing import scrub
from pinfold.store.sqlite.gate import WAIT_S, Gate
from pinfold.store.sqlite.logged import log_end, logged
from pinfold.store.sqlite.opening import check_engine, open_gate, prepare
from pinfold.store.sqlite.pinning import pin_decision
from pinfold.store.sqlite.projecting import commit_projection
from pinfold.store.sqlite.reader import Reader
from pinfold.store.sqlite.rebuilding import rebuild
from pinfold.store.sqlite.spilling import spill_artifact
from pinfold.store.sqlite.status import status
from pinfold.store.sqlite.verifying import stale_views, verify
from pinfold.store.sqlite.writer import Writer
from pinfold.store.values import Caller, Pointer, Receipt

T = TypeVar("T")


async def open_store(folder: Path, project: str, wait_s: float = WAIT_S) -> SqliteStore:
    """Open the store in `folder`, making folder and database when there are none; the caller closes it.

    `project` names it in replies, and is kept when the store is made. `wait_s` bounds every wait for the
    lock. Raises `DamagedError`, `ReadOnlyError`, `BusyError`, `InvalidInputError`; never changes a file it
    cannot use.
    """
    return await _opened(await anyio.to_thread.run_sync(_prepare, folder, project, wait_s))


def _prepare(folder: Path, project: str, wait_s: float) -> SqliteStore:
    check_engine()
    place = Place(folder)
    gate = open_gate(place, wait_s)
    try:
        prepare(place, gate, project)
        return SqliteStore(place, gate, read_meta(place))
    except BaseException:
        gate.close()
        raise


async def _opened(store: SqliteStore) -> SqliteStore:
    try:
        await store.start()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await store.close()
        raise
    return store


class SqliteStore(Store):
    """One project's log in one SQLite file; made by `open_store`, of use only in its process and loop."""

    def __init__(self, place: Place, gate: Gate, meta: dict[str, bytes]) -> None:
        self.project = meta["project"].decode()
        self.redactor = Redactor(meta["secret"])
        self._secret = meta["secret"]
        self._place = place
        self._gate = gate
        self._writer = Writer(place, gate, self.redactor)
        self._reader = Reader(place)
        self._process = os.getpid()
        self._searched = False  # saves those who never search the look at each fetch

    async def start(self) -> None:
        """Make the two connections."""
        await self._writer.open()
        await self._reader.open()

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return fence(self._secret, content)

    async def pin_decision(self, command: PinDecision) -> PinnedDecision:
        """See `Store.pin_decision`."""
        return await self._writer.write(partial(pin_decision, command=command))

    async def spill_artifact(self, command: SpillArtifact) -> SpilledArtifact:
        """See `Store.spill_artifact`."""
        return await self._writer.write(partial(spill_artifact, command=command))

    async def checkpoint_state(self, command: CheckpointState) -> SavedCheckpoint:
        """See `Store.checkpoint_state`."""
        return await self._writer.write(partial(checkpoint_state, command=command, project=self.project))

    async def start_session(self, command: StartSession) -> StartedSession:
        """See `Store.start_session`."""
        return await self._writer.write(partial(sessions.start_session, command=command))

    async def append_messages(
        self, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
    ) -> AppendedMessages:
        """See `Store.append_messages`."""
        return await self._writer.write(partial(append_messages, caller=caller, messages=messages, mark=mark))

    async def record_fold(self, command: RecordFold) -> RecordedFold:
        """See `Store.record_fold`."""
        return await self._writer.write(partial(folding.record_fold, command=command))

    async def commit_projection(self, command: CommitProjection) -> CommittedProjection:
        """See `Store.commit_projection`."""
        return await self._writer.write(partial(commit_projection, command=command))

    async def search_history(self, query: SearchHistory) -> SearchPage:
        """See `Store.search_history`."""
        self._searched = True
        return await searching.search_history(self._reader, self._writer, query)

    async def note_opened(self, caller: Caller, pointer: Pointer) -> None:
        """See `Store.note_opened`."""
        if self._searched:
            who = cleaned(self.redactor, caller)
            await searching.note_opened(self._reader, self._writer, who, pointer)

    async def brief_state(self, caller: Caller | None, as_of: int | None = None) -> BriefState:
        """See `Store.brief_state`."""
        who = cleaned(self.redactor, caller)
        return await self._read(lambda db: briefing.brief_state(db, self.project, who, as_of))

    async def folded_part(self, caller: Caller, key: str) -> FoldedPart | None:
        """See `Store.folded_part`."""
        asked = cleaned(self.redactor, (caller, key))
        return await self._read(lambda db: folding.folded_part(db, *asked))

    async def transcript_mark(self, path: str) -> TranscriptMark | None:
        """See `Store.transcript_mark`."""
        return await self._read(lambda db: marks.by_path(db, cleaned(self.redactor, path)))

    async def transcripts(self, caller: Caller) -> tuple[TranscriptMark, ...]:
        """See `Store.transcripts`."""
        return await self._read(lambda db: marks.of_caller(db, cleaned(self.redactor, caller)))

    async def pin(self, number: int) -> PinHistory:
        """See `Store.pin`."""
        return await self._read(lambda db: reading.pin_with_history(db, number))

    async def artifact(self, number: int) -> Artifact:
        """See `Store.artifact`."""
        return await self._read(lambda db: slices.artifact_by_number(db, number))

    async def artifact_bytes(self, number: int, start: int, max_bytes: int) -> ArtifactSlice:
        """See `Store.artifact_bytes`."""
        return await self._read(lambda db: slices.artifact_bytes(db, number, start, max_bytes))

    async def artifact_lines(self, number: int, first: int, last: int, max_bytes: int) -> ArtifactSlice:
        """See `Store.artifact_lines`."""
        return await self._read(lambda db: slices.artifact_lines(db, number, (first, last), max_bytes))

    async def scan_artifact(
        self, number: int, start: int, visit: Callable[[ArtifactSlice], bool]
    ) -> Artifact:
        """See `Store.scan_artifact`."""
        return await self._read(lambda db: slices.scan_artifact(db, number, start, visit))

    async def checkpoint(self, number: int) -> Checkpoint:
        """See `Store.checkpoint`."""
        return await self._read(lambda db: reading.checkpoint_by_number(db, number))

    async def entry(self, seq: int) -> Entry:
        """See `Store.entry`."""
        return await self._read(lambda db: reading.entry_by_seq(db, seq))

    async def fold(self, number: int) -> Fold:
        """See `Store.fold`."""
        return await self._read(lambda db: reading.fold_by_number(db, number))

    async def search_record(self, number: int) -> SearchRecord:
        """See `Store.search_record`."""
        return await self._read(lambda db: reading.search_by_number(db, number))

    async def pins(self, before: int | None, limit: int) -> tuple[Pin, ...]:
        """See `Store.pins`."""
        return await self._read(lambda db: reading.pins(db, before, limit))

    async def artifacts(self, before: int | None, limit: int) -> tuple[Artifact, ...]:
        """See `Store.artifacts`."""
        return await self._read(lambda db: reading.artifacts(db, before, limit))

    async def checkpoints(self, before: int | None, limit: int) -> tuple[Checkpoint, ...]:
        """See `Store.checkpoints`."""
        return await self._read(lambda db: reading.checkpoints(db, before, limit))

    async def folds(self, before: int | None, limit: int) -> tuple[Fold, ...]:
        """See `Store.folds`."""
        return await self._read(lambda db: reading.folds(db, before, limit))

    async def misses(self, before: int | None, limit: int) -> tuple[SearchRecord, ...]:
        """See `Store.misses`."""
        return await self._read(lambda db: reading.misses(db, before, limit))

    async def sessions(self, before: int | None, limit: int) -> tuple[Session, ...]:
        """See `Store.sessions`."""
        return await self._read(lambda db: sessions.listed(db, before, limit))

    async def status(self) -> StoreStatus:
        """See `Store.status`."""
        return await self._read(lambda db: status(db, self._place, self.project, self._writer.read_only))

    async def log_end(self) -> LogEnd:
        """See `Store.log_end`."""
        return await self._read(log_end)

    async def logged(self, after: int, session: int | None = None) -> tuple[LoggedEvent, ...]:
        """See `Store.logged`."""
        return await self._read(lambda db: logged(db, after, session))

    async def verify(
        self, progress: Progress | None = None, receipts: Sequence[Receipt] = ()
    ) -> VerifyReport:
        """See `Store.verify`."""
        return await anyio.to_thread.run_sync(verify, self._place.database, progress, receipts)

    async def stale_views(self, progress: Progress | None = None) -> tuple[str, ...]:
        """See `Store.stale_views`."""
        return await anyio.to_thread.run_sync(stale_views, self._place.database, progress)

    async def rebuild(self, progress: Progress | None = None) -> int:
        """See `Store.rebuild`."""
        return await self._writer.write(lambda tx: rebuild(tx.db, progress))

    async def forget_plan(self, command: Forget | Retention) -> ForgetPlan:
        """See `Store.forget_plan`."""
        return await self._reader.read(lambda db: plan(db, command, partial(cleaned, self.redactor)), None)

    async def forget(self, command: Forget | Retention) -> Forgotten:
        """See `Store.forget`."""
        return await self._writer.write(partial(forget, command=command))

    async def scrub(self, progress: Progress | None = None) -> Scrubbed:
        """See `Store.scrub`."""
        return await self._writer.alone(lambda db: scrub(db, self._place, progress))

    async def _read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        return await self._reader.read(look)

    async def close(self) -> None:
        """See `Store.close`."""
        if os.getpid() != self._process:
            return
        with anyio.CancelScope(shield=True):
            async with AsyncExitStack() as parts:
                parts.callback(self._gate.close)
                parts.push_async_callback(self._writer.close)
                parts.push_async_callback(self._reader.close)
