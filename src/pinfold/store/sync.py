"""The part of the store's contract that works without an event loop, for those whom a client waits for.

Hooks and the reading of transcripts are plain functions of a `SyncStore`: where a hook calls, that is the file itself;
inside a server, on a worker thread, the server's own store. Each method promises what its namesake in `Store` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pinfold.store.commands import (
        Message,
        PinDecision,
        RecordFold,
        SpillArtifact,
        StartSession,
        TranscriptMark,
    )
    from pinfold.store.redaction import Redactor
    from pinfold.store.results import (
        AppendedMessages,
        BriefState,
        FoldedPart,
        PinnedDecision,
        RecordedFold,
        SpilledArtifact,
        StartedSession,
    )
    from pinfold.store.values import Caller


class SyncStore(Protocol):
    """One project's log, for one thread at a time; the caller closes it."""

    project: str
    redactor: Redactor

    def fence(self, content: str) -> str:
        """See `Store.fence`."""

    def start_session(self, command: StartSession) -> StartedSession:
        """See `Store.start_session`."""

    def pin_decision(self, command: PinDecision) -> PinnedDecision:
        """See `Store.pin_decision`."""

    def spill_artifact(self, command: SpillArtifact) -> SpilledArtifact:
        """See `Store.spill_artifact`."""

    def append_messages(
        self, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
    ) -> AppendedMessages:
        """See `Store.append_messages`."""

    def folded_part(self, caller: Caller, key: str) -> FoldedPart | None:
        """See `Store.folded_part`."""

    def record_fold(self, command: RecordFold) -> RecordedFold:
        """See `Store.record_fold`."""

    def transcript_mark(self, path: str) -> TranscriptMark | None:
        """See `Store.transcript_mark`."""

    def transcripts(self, caller: Caller) -> tuple[TranscriptMark, ...]:
        """See `Store.transcripts`."""

    def brief_state(self, caller: Caller | None, as_of: int | None = None) -> BriefState:
        """See `Store.brief_state`."""


class OpenedStore(SyncStore, Protocol):
    """A `SyncStore` of one's own."""

    def close(self) -> None:
        """Let go of it."""
