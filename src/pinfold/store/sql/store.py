"""`SqlStore`: the contract over a database. Each method names its verb; the verbs are beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from pinfold.store import Store
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
from pinfold.store.forgetting import Forget, ForgetPlan, Forgotten, Retention
from pinfold.store.logged import LogEnd, LoggedEvent, LogPart
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
)
from pinfold.store.search_results import SearchPage, SearchRecord
from pinfold.store.session_results import Session
from pinfold.store.sql import briefing, folding, marks, reading, searching, sessions, slices
from pinfold.store.sql.appending import append_messages
from pinfold.store.sql.checkpointing import checkpoint_state
from pinfold.store.sql.database import Database
from pinfold.store.sql.forgetting.belonging import plan
from pinfold.store.sql.forgetting.erasing import forget
from pinfold.store.sql.logged import logged
from pinfold.store.sql.pinning import pin_decision
from pinfold.store.sql.projecting import commit_projection
from pinfold.store.sql.receiving import receive
from pinfold.store.sql.spilling import spill_artifact
from pinfold.store.sql.verbs import Reading, Writing
from pinfold.store.values import Caller, Pointer

T = TypeVar("T")


class SqlStore(Store):
    """One project's log in the tables of a database; a backend says how its verbs are run."""

    _schema: int
    """That of a database which this pinfold can write."""

    def __init__(self, project: str, redactor: Redactor, reader: Reading, writer: Writing) -> None:
        self.project = project
        self.redactor = redactor  # the writer's as well
        self._reader = reader
        self._writer = writer
        self._searched = False  # saves those who never search the look at each fetch

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return fence(self.redactor.key, content)

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

    async def sessions(self, before: int | None, limit: int) -> tuple[Session, ...]:
        """See `Store.sessions`."""
        return await self._read(lambda db: sessions.listed(db, before, limit))

    async def misses(self, before: int | None, limit: int) -> tuple[SearchRecord, ...]:
        """See `Store.misses`."""
        return await self._read(lambda db: reading.misses(db, before, limit))

    async def logged(self, after: int, session: int | None = None) -> tuple[LoggedEvent, ...]:
        """See `Store.logged`."""
        return await self._read(lambda db: logged(db, after, session))

    async def receive(self, part: LogPart) -> LogEnd:
        """See `Store.receive`."""
        received = await self._writer.write(partial(receive, part=part))
        if received.key is not None:
            self.redactor.key = received.key
        return LogEnd(received.seq, received.digest, self._schema)

    async def forget_plan(self, command: Forget | Retention) -> ForgetPlan:
        """See `Store.forget_plan`."""
        return await self._reader.read(lambda db: plan(db, command, partial(cleaned, self.redactor)), None)

    async def forget(self, command: Forget | Retention) -> Forgotten:
        """See `Store.forget`."""
        return await self._writer.write(partial(forget, command=command))

    async def _read(self, look: Callable[[Database], T]) -> T:
        return await self._reader.read(look)
