"""What a caller can ask of a store: one frozen command per write, one query per search.

Texts have been checked and redacted by the time a command exists; limits are those of `values`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinfold.store.values import Caller, PinKind, Pointer

if TYPE_CHECKING:
    from pinfold.store.content import Content


@dataclass(frozen=True, slots=True)
class PinDecision:
    """Keep a text verbatim. `supersedes` are pin numbers; `tokens` are those of the pin's line in the brief."""

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
    """Store bytes behind a pointer. `path` is where they were read from, if they were."""

    caller: Caller
    content: Content
    outline: Outline
    label: str = ""
    source: str = ""
    path: str | None = None
    key: str | None = None


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


@dataclass(frozen=True, slots=True)
class SearchHistory:
    """Look something up. `kinds` are those of `results.HIT_KINDS`; `since` is an ISO 8601 instant.

    `session` restricts to one session's number. `cursor` continues a page. `limit` is 1 to 50.
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
