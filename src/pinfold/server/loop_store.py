"""A server's store, which lives on the event loop, for those of its worker threads that have none."""

from __future__ import annotations

from collections.abc import Sequence

from anyio import from_thread

from pinfold.store import Store
from pinfold.store.commands import (
    Message,
    PinDecision,
    RecordFold,
    SpillArtifact,
    StartSession,
    TranscriptMark,
)
from pinfold.store.results import (
    AppendedMessages,
    BriefState,
    FoldedPart,
    PinnedDecision,
    RecordedFold,
    SpilledArtifact,
    StartedSession,
)
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller


class LoopStore(SyncStore):
    """Each call runs on the event loop that the worker thread belongs to, and waits for its outcome."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.project = store.project
        self.redactor = store.redactor

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return self._store.fence(content)

    def start_session(self, command: StartSession) -> StartedSession:
        """See `Store.start_session`."""
        return from_thread.run(self._store.start_session, command)

    def pin_decision(self, command: PinDecision) -> PinnedDecision:
        """See `Store.pin_decision`."""
        return from_thread.run(self._store.pin_decision, command)

    def spill_artifact(self, command: SpillArtifact) -> SpilledArtifact:
        """See `Store.spill_artifact`."""
        return from_thread.run(self._store.spill_artifact, command)

    def append_messages(
        self, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
    ) -> AppendedMessages:
        """See `Store.append_messages`."""
        return from_thread.run(self._store.append_messages, caller, messages, mark)

    def folded_part(self, caller: Caller, key: str) -> FoldedPart | None:
        """See `Store.folded_part`."""
        return from_thread.run(self._store.folded_part, caller, key)

    def record_fold(self, command: RecordFold) -> RecordedFold:
        """See `Store.record_fold`."""
        return from_thread.run(self._store.record_fold, command)

    def transcript_mark(self, path: str) -> TranscriptMark | None:
        """See `Store.transcript_mark`."""
        return from_thread.run(self._store.transcript_mark, path)

    def transcripts(self, caller: Caller) -> tuple[TranscriptMark, ...]:
        """See `Store.transcripts`."""
        return from_thread.run(self._store.transcripts, caller)

    def brief_state(self, caller: Caller | None, as_of: int | None = None) -> BriefState:
        """See `Store.brief_state`."""
        return from_thread.run(self._store.brief_state, caller, as_of)
