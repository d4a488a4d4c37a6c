"""`SqlDirectStore`: a `SyncStore` that reads and writes where it is called, without event loop or thread.

Each verb is loaded when it is used: a hook uses one or two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pinfold.store.cleaning import cleaned
from pinfold.store.fences import fence
from pinfold.store.redaction import Redactor
from pinfold.store.sql import briefing, marks, sessions
from pinfold.store.sql.database import Database
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sync import SyncStore

if TYPE_CHECKING:
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
    from pinfold.store.values import Caller

T = TypeVar("T")


class SqlDirectStore(SyncStore, ABC):
    """One project's log in the tables of a database, for one thread; a backend says how its verbs are run."""

    def __init__(self, project: str, secret: bytes) -> None:
        self.project = project
        self.redactor = Redactor(secret)

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return fence(self.redactor.key, content)

    def start_session(self, command: StartSession) -> StartedSession:
        """See `Store.start_session`."""
        return self._write(partial(sessions.start_session, command=command))

    def pin_decision(self, command: PinDecision) -> PinnedDecision:
        """See `Store.pin_decision`."""
        from pinfold.store.sql.pinning import pin_decision

        return self._write(partial(pin_decision, command=command))

    def spill_artifact(self, command: SpillArtifact) -> SpilledArtifact:
        """See `Store.spill_artifact`."""
        from pinfold.store.sql.spilling import spill_artifact

        return self._write(partial(spill_artifact, command=command))

    def append_messages(
        self, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
    ) -> AppendedMessages:
        """See `Store.append_messages`."""
        from pinfold.store.sql.appending import append_messages

        return self._write(partial(append_messages, caller=caller, messages=messages, mark=mark))

    def folded_part(self, caller: Caller, key: str) -> FoldedPart | None:
        """See `Store.folded_part`."""
        from pinfold.store.sql.folding import folded_part

        asked = cleaned(self.redactor, (caller, key))
        return self._read(lambda db: folded_part(db, *asked))

    def record_fold(self, command: RecordFold) -> RecordedFold:
        """See `Store.record_fold`."""
        from pinfold.store.sql.folding import record_fold

        return self._write(partial(record_fold, command=command))

    def transcript_mark(self, path: str) -> TranscriptMark | None:
        """See `Store.transcript_mark`."""
        return self._read(lambda db: marks.by_path(db, cleaned(self.redactor, path)))

    def transcripts(self, caller: Caller) -> tuple[TranscriptMark, ...]:
        """See `Store.transcripts`."""
        return self._read(lambda db: marks.of_caller(db, cleaned(self.redactor, caller)))

    def brief_state(self, caller: Caller | None, as_of: int | None = None) -> BriefState:
        """See `Store.brief_state`."""
        who = cleaned(self.redactor, caller)
        return self._read(lambda db: briefing.brief_state(db, self.project, who, as_of))

    @abstractmethod
    def _write(self, verb: Callable[[Transaction], T]) -> T:
        """Run a verb in one durable transaction."""

    @abstractmethod
    def _read(self, look: Callable[[Database], T]) -> T:
        """Run a look in one snapshot."""
