"""What a caller can ask of a store: one frozen command per write, one query per search.

Texts have been checked and redacted by the time a command exists; limits are those of `values`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinfold.store.values import Caller, PinKind, Pointer, Stale

if TYPE_CHECKING:
    from pinfold.store.content import Content


SAID_NOW = "now"
"""Said at this moment, whatever the clock shows: no pin that was superseded by now is a repeat of it."""


@dataclass(frozen=True, slots=True)
class PinDecision:
    """Keep a text verbatim. `supersedes` are pin numbers; `tokens` are those of the pin's line in the brief.

    `said_at` (ISO 8601, `SAID_NOW`, or empty if not known): it was said in passing and may be read long afterwards.
    Then it is a repeat where the same stands as a live pin, or as one that was superseded since it was said.
    """

    caller: Caller
    text: str
    why: str
    kind: PinKind = PinKind.DECISION
    supersedes: tuple[int, ...] = ()
    session_only: bool = False
    files: tuple[str, ...] = ()
    specifics: tuple[str, ...] = ()
    tokens: int = 0
    key: str | None = None
    said_at: str | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """What a reader learns of an artifact without opening it; made once, when it is spilled.

    `preview` is at most 120 tokens; `error_lines` counts lines of a log that report an error or a warning and
    `first_errors` are the numbers (from 1) of the first of them.
    """

    media_type: str
    preview: str
    tokens: int
    tokens_estimated: bool = False
    json_state: str | None = None
    error_lines: int = 0
    first_errors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SpillArtifact:
    """Store bytes behind a pointer. `path` is where they were read from, if they were.

    `aside`: nobody asked for it (a part of a transcript, a fold's summary), so the brief does not list it.
    """

    caller: Caller
    content: Content
    outline: Outline
    label: str = ""
    source: str = ""
    path: str | None = None
    key: str | None = None
    aside: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """Save the working state; with `fork_of` (a checkpoint's number) in a new session that continues from it."""

    caller: Caller
    goal: str = ""
    done: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    next_step: str = ""
    files: tuple[str, ...] = ()
    fork_of: int | None = None
    tokens: int = 0
    key: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it holds no state at all (a bare fork)."""
        return not any(
            (self.goal, self.done, self.pending, self.facts, self.constraints, self.next_step, self.files)
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `external_id` (the client's own id) makes appending it idempotent.

    `role` is user, assistant, tool_call or tool_result; `call_id` links a result to its call; `at` is ISO 8601.
    `artifacts` (an image, an output too long to be searched as text) are stored beside it; their pointers follow
    its text, one a line. `pins` are what it says is to be kept. `conversation` is whose it is, if not the caller's.
    """

    role: str
    text: str
    external_id: str | None = None
    at: str | None = None
    tool: str | None = None
    call_id: str | None = None
    files: tuple[str, ...] = ()
    tokens: int = 0
    tokens_estimated: bool = True
    artifacts: tuple[SpillArtifact, ...] = ()
    pins: tuple[PinDecision, ...] = ()
    conversation: str | None = None


@dataclass(frozen=True, slots=True)
class StartSession:
    """A client began or took up a conversation.

    `run` names the client's own process where it is known (else it may name the conversation, for `status` to know of
    it): whoever that started is in this conversation from now on. `transcript` is a path, of a file that need not
    exist yet; `model` the model's name. `fork_at` is a seq: a conversation that has not begun yet continues from that
    event, of whatever session it is.
    """

    caller: Caller
    run: str | None = None
    transcript: str | None = None
    model: str | None = None
    fork_at: int | None = None


@dataclass(frozen=True, slots=True)
class TranscriptMark:
    """How far a transcript has been read: up to byte `offset`.

    `head` is a digest of its first bytes, by which a replaced file is known; `conversation` is whose it is.
    """

    path: str
    client: str
    conversation: str
    offset: int
    head: str


@dataclass(frozen=True, slots=True)
class RecordFold:
    """One compaction of the caller's conversation, audited.

    `key` is the client's own id of it and makes recording idempotent. `live`: a hook tells of it before the client
    has written it down; what the transcript says later is of the same fold. `tokens_before` and `tokens_after` are
    the client's figures or estimates, `messages` counts the entries that were folded. `folded` are the seqs of what
    the summary stands for, where a harness folds by itself. The other fields are an audit's, see `results.Fold`.
    """

    caller: Caller
    key: str
    trigger: str
    live: bool = False
    at: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    messages: int | None = None
    summary: SpillArtifact | None = None
    present: Mapping[int, int] = field(default_factory=dict)
    lost: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    offered: tuple[tuple[str, str], ...] = ()
    strings: tuple[tuple[str, str], ...] = ()
    folded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitProjection:
    """What requests of the caller's conversation leave out from now on. Nothing is deleted.

    `hidden` are the seqs of messages that are not sent, `reclaimed` those of tool results that shrink to one line.
    """

    caller: Caller
    hidden: tuple[int, ...] = ()
    reclaimed: Mapping[int, Stale] = field(default_factory=dict)
    key: str | None = None


@dataclass(frozen=True, slots=True)
class SearchHistory:
    """Look something up. `kinds` are those of `search_results.HIT_KINDS`; `since` is an ISO 8601 instant.

    `session` restricts to one session's number. `cursor` continues a page. `limit` is 1 to 50. With `recorded` False
    nothing is written: the search gets no number, and an empty page is no miss.
    """

    caller: Caller
    query: str
    kinds: tuple[str, ...] = ()
    session: int | None = None
    since: str | None = None
    path: str | None = None
    limit: int = 5
    cursor: str | None = None
    missed: Pointer | None = None
    recorded: bool = True
