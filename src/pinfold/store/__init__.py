"""The store's contract: one project's log, and everything derived from it.

A `Store` speaks commands, results, pointers, `seq` and domain errors; never connection, cursor, row, SQL or a driver's
error. Every write method is one transaction: it either is in the log when the method returns, or nothing happened
(`UnknownOutcomeError` says that only the log knows). Every read method is one snapshot. The suite in `tests/contract/`
runs once per backend. Source: design 1, The store's contract; promises P1 to P16.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command imports this package for its errors, and most need no more
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
    from pinfold.store.forgetting import Forget, ForgetPlan, Forgotten, Retention, Scrubbed
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
        StoreStatus,
        VerifyReport,
    )
    from pinfold.store.search_results import SearchPage, SearchRecord
    from pinfold.store.session_results import Session
    from pinfold.store.values import Caller, Pointer, Receipt

Progress = Callable[[int, int], None]
"""Called with (done, total) during long work."""


class Store(ABC):
    """One project's log. Numbers are counted per project, begin at 1 and are never reused."""

    project: str
    """The project's name as replies show it."""

    redactor: Redactor
    """Replaces known secret shapes; its digests are keyed per project. Every text passes it before it is stored."""

    @abstractmethod
    def fence(self, content: str) -> str:
        """Return 16 hex digits that only this project can compute for `content`; the same each time. Source: P23."""

    # --- writes: one call, one transaction ---

    @abstractmethod
    async def pin_decision(self, command: PinDecision) -> PinnedDecision:
        """Append one pin and supersede the ones it names.

        Repeats (same key and arguments, or the same live text, why, kind and scope, with
        nothing to supersede and no file that it lacks) return the first pin.
        Raises `NotFoundError` for an unknown pin in `supersedes`, `ConflictError` for one already superseded or for a
        key used with other arguments. Source: P3, P4, P31.
        """

    @abstractmethod
    async def spill_artifact(self, command: SpillArtifact) -> SpilledArtifact:
        """Append one artifact together with its bytes; equal bytes are kept once.

        Repeats (same key and arguments, or same bytes, label, source and path) return the first artifact.
        The content is read once and not closed. Raises `ConflictError` as above. Source: P3, P4, P9.
        """

    @abstractmethod
    async def checkpoint_state(self, command: CheckpointState) -> SavedCheckpoint:
        """Append the working state, or with `fork_of` begin a new session at that checkpoint first.

        Repeats (same key and arguments, or the same state as the session's latest, or the same fork as
        long as nothing was written in it) return the first one.
        Raises `NotFoundError` for an unknown `fork_of`, `InvalidInputError` for an empty state without a fork.
        """

    @abstractmethod
    async def start_session(self, command: StartSession) -> StartedSession:
        """Begin the session of a conversation, or go on in the one that it began; note where its transcript lies.

        Callers of the client's process are in this conversation from now on. A conversation that was forked
        stays in its fork. With `fork_at` the session inherits what its origin had up to there, copies nothing, and
        changes nothing in it. Raises `NotFoundError` for a seq of no session, `ConflictError` for a conversation that
        began elsewhere. Source: design 1 (Fork), design 3 (Which session, which project).
        """

    @abstractmethod
    async def append_messages(
        self, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
    ) -> AppendedMessages:
        """Append messages in order with their pins, leaving out those whose `external_id` is known; save the mark.

        Known is what the session holds; with a `mark`, what any session of the client does, since the transcript of
        a forked conversation repeats another one's. Messages may be none.
        """

    @abstractmethod
    async def record_fold(self, command: RecordFold) -> RecordedFold:
        """Append one compaction with its summary and its audit; the same `key` gives the first one again."""

    @abstractmethod
    async def commit_projection(self, command: CommitProjection) -> CommittedProjection:
        """Append what requests of the caller's conversation leave out from now on.

        Raises `NotFoundError` unless each is a message of its session or of what that was forked from,
        `InvalidInputError` for nothing at all, `ConflictError` for a key used with other arguments. Source: P3, P4.
        """

    @abstractmethod
    async def search_history(self, query: SearchHistory) -> SearchPage:
        """Return the best matches for any text with a letter or digit, best tier first.

        An empty first page, and a `missed` pointer, are recorded as misses. Paging is stable while others write. With
        `recorded` False nothing is written.
        Raises `InvalidInputError` for a query without letter or digit or a cursor of another query,
        `NotFoundError` for an unknown `missed`. Source: P7, P32.
        """

    @abstractmethod
    async def note_opened(self, caller: Caller, pointer: Pointer) -> None:
        """Record that the caller opened an entry, where it may be what an earlier search of its session missed.

        Only where that search was asked of this store. What cannot be written is not recorded, and no error. Source:
        design 2, search_history.
        """

    # --- reads: one call, one snapshot ---

    @abstractmethod
    async def brief_state(self, caller: Caller | None, as_of: int | None = None) -> BriefState:
        """Return what the brief of this caller's session is made from, as of a seq (default: now).

        Raises `NotFoundError` for a seq behind the log's end.
        """

    @abstractmethod
    async def folded_part(self, caller: Caller, key: str) -> FoldedPart | None:
        """Return what a fold of the caller's conversation folds now, None when the fold `key` is recorded already.

        At most the newest 20,000 entries and 4 MiB of their text in memory: a window of 1,000,000 tokens.
        """

    @abstractmethod
    async def transcript_mark(self, path: str) -> TranscriptMark | None:
        """Return how far a transcript has been read, None for an unknown one."""

    @abstractmethod
    async def transcripts(self, caller: Caller) -> tuple[TranscriptMark, ...]:
        """Return the known transcripts of the session that the caller's conversation continues, by path."""

    @abstractmethod
    async def pin(self, number: int) -> PinHistory:
        """Return a pin with its history, at most 50 other pins and 50 folds. Raises `NotFoundError`."""

    @abstractmethod
    async def artifact(self, number: int) -> Artifact:
        """Return an artifact's facts. Raises `NotFoundError`."""

    @abstractmethod
    async def artifact_bytes(self, number: int, start: int, max_bytes: int) -> ArtifactSlice:
        """Return bytes from offset `start` on, at most `max_bytes`, each chunk checked against its digest.

        Cost does not grow with the artifact. Raises `NotFoundError`, `DamagedError`. Source: P9.
        """

    @abstractmethod
    async def artifact_lines(self, number: int, first: int, last: int, max_bytes: int) -> ArtifactSlice:
        """Return lines `first` to `last` (from 1, both included), cut after `max_bytes`.

        Empty content when `first` lies behind the end. Raises as `artifact_bytes`.
        """

    @abstractmethod
    async def scan_artifact(
        self, number: int, start: int, visit: Callable[[ArtifactSlice], bool]
    ) -> Artifact:
        """Call `visit` with each chunk from the one that holds offset `start` on, until it returns False.

        `visit` runs on the reading thread, not on the event loop. Raises as `artifact_bytes`.
        """

    @abstractmethod
    async def checkpoint(self, number: int) -> Checkpoint:
        """Return a checkpoint. Raises `NotFoundError`."""

    @abstractmethod
    async def entry(self, seq: int) -> Entry:
        """Return a message, tool call or tool result with its neighbours. Raises `NotFoundError`."""

    @abstractmethod
    async def fold(self, number: int) -> Fold:
        """Return a fold. Raises `NotFoundError`."""

    @abstractmethod
    async def search_record(self, number: int) -> SearchRecord:
        """Return an earlier search. Raises `NotFoundError`."""

    @abstractmethod
    async def pins(self, before: int | None, limit: int) -> tuple[Pin, ...]:
        """Return pins, superseded ones too, newest first, with numbers below `before`."""

    @abstractmethod
    async def artifacts(self, before: int | None, limit: int) -> tuple[Artifact, ...]:
        """Return artifacts, newest first, with numbers below `before`."""

    @abstractmethod
    async def checkpoints(self, before: int | None, limit: int) -> tuple[Checkpoint, ...]:
        """Return checkpoints, newest first, with numbers below `before`."""

    @abstractmethod
    async def folds(self, before: int | None, limit: int) -> tuple[Fold, ...]:
        """Return folds, newest first, with numbers below `before`."""

    @abstractmethod
    async def misses(self, before: int | None, limit: int) -> tuple[SearchRecord, ...]:
        """Return the searches that missed, newest first, with seqs below `before`."""

    @abstractmethod
    async def sessions(self, before: int | None, limit: int) -> tuple[Session, ...]:
        """Return sessions, newest first, with numbers below `before`. Cost grows with the events of those returned."""

    @abstractmethod
    async def status(self) -> StoreStatus:
        """Return the store at a glance."""

    @abstractmethod
    async def log_end(self) -> LogEnd:
        """Return where the log ends now."""

    @abstractmethod
    async def logged(self, after: int, session: int | None = None) -> tuple[LoggedEvent, ...]:
        """Return the next events behind the seq `after`, in order, of one session or of all, as they are stored.

        At most `SLICE_EVENTS` and about `SLICE_BYTES` of bodies, but at least one where there is one. Source: P16.
        """

    @abstractmethod
    async def receive(self, part: LogPart) -> LogEnd:
        """Append events of another store's log exactly as they are, and return where the log ends now.

        One transaction. Each body is checked against its digest, each event against the one before. An event that
        stands there already, with the same digest, is passed over, so that a part may be sent again. A log that is
        empty takes over the key of the project that the part comes from: fences and redaction marks stay the same.
        Raises `ConflictError` where the log goes on otherwise or ends before the part begins, `DamagedError` for an
        event that is not what it was, `InvalidInputError` for an artifact without its bytes, `ReadOnlyError` for an
        event that only a newer pinfold knows. Source: P9, P10, P38, P43.
        """

    # --- care ---

    @abstractmethod
    async def verify(
        self, progress: Progress | None = None, receipts: Sequence[Receipt] = ()
    ) -> VerifyReport:
        """Check the log's chain, the views against the log, the search index, and every artifact. Changes nothing.

        `receipts` are some that writes were acknowledged with: only they can show that the log's end was cut off.
        It works on a copy, which needs room, and which ends its only snapshot. Source: P10, P16.
        """

    @abstractmethod
    async def stale_views(self, progress: Progress | None = None) -> tuple[str, ...]:
        """Return what `rebuild` would change: names of views, and `search index`. Changes nothing.

        Raises as `rebuild` and `verify` do.
        """

    @abstractmethod
    async def rebuild(self, progress: Progress | None = None) -> int:
        """Derive all views and the index anew from the log in one transaction; return the number of events.

        Until it is done others read what was there, and writers wait or are told who holds the store.
        Raises `DamagedError`, and leaves all as it was, for an event that does not match its digest.
        """

    @abstractmethod
    async def forget_plan(self, command: Forget | Retention) -> ForgetPlan:
        """Return what `forget` would take, and change nothing. Raises as `forget` does."""

    @abstractmethod
    async def forget(self, command: Forget | Retention) -> Forgotten:
        """Blank the bodies of what the command chooses and of what belongs to it; take it out of all that is derived.

        What belongs to a thing: bytes that are the same, the artifacts of a message, the summary of a fold. Pointers
        of the forgotten say so for ever, their numbers are never given again, and no import brings a message back.
        The digest chain stays whole. Until `scrub` has run, traces may be left in the files.
        Raises `NotFoundError` for a pointer to nothing, `InvalidInputError` for a session that is not there and unless
        one way of choosing is used.
        """

    @abstractmethod
    async def scrub(self, progress: Progress | None = None) -> Scrubbed:
        """Leave nothing of the forgotten in any page of the files; gives the room back.

        Others wait meanwhile, and it takes the store's room once more. Raises `BusyError`. Source: P38.
        """

    @abstractmethod
    async def close(self) -> None:
        """Finish what was started and let go of the files. Idempotent."""


__all__ = ["Progress", "Store"]
