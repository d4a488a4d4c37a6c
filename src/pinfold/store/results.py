"""What a store answers: frozen facts, in the words of the design, with pointers as the only handles."""

from __future__ import annotations

from dataclasses import dataclass, field

from pinfold.store.commands import Outline
from pinfold.store.values import PinKind, Receipt

HIT_KINDS = ("pins", "dead_ends", "checkpoints", "artifacts", "messages", "tool_results", "folds")


@dataclass(frozen=True, slots=True)
class Pin:
    """A decision, constraint, fact or dead end as it stands. `superseded_by` is the number of its replacement."""

    number: int
    seq: int
    at: str
    session: int
    actor: str
    kind: PinKind
    text: str
    why: str
    session_only: bool
    files: tuple[str, ...]
    specifics: tuple[str, ...]
    tokens: int
    supersedes: tuple[int, ...] = ()
    superseded_by: int | None = None
    superseded_seq: int | None = None

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `P7`."""
        return f"P{self.number}"


@dataclass(frozen=True, slots=True)
class Likeness:
    """A live pin that resembles a new one; `share` is the part of words in common, 0 to 1."""

    pin: Pin
    share: float


@dataclass(frozen=True, slots=True)
class PinnedDecision:
    """The outcome of `pin_decision`. `live_tokens` counts the lines of all live pins of this session's brief."""

    pin: Pin
    receipt: Receipt
    repeated: bool
    similar: tuple[Likeness, ...]
    dead_ends: tuple[Likeness, ...]
    live_pins: int
    live_tokens: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """Stored bytes. `is_text`: valid UTF-8 without NUL. `indexed_bytes`: how much of it search can find.

    `same_bytes_as` is the number of an earlier artifact with the same bytes, if there is one.
    """

    number: int
    seq: int
    at: str
    session: int
    label: str
    source: str
    path: str | None
    sha256: str
    size_bytes: int
    lines: int
    is_text: bool
    indexed_bytes: int
    outline: Outline
    same_bytes_as: int | None = None

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `A12`."""
        return f"A{self.number}"


@dataclass(frozen=True, slots=True)
class SpilledArtifact:
    """The outcome of `spill_artifact`."""

    artifact: Artifact
    receipt: Receipt
    repeated: bool


@dataclass(frozen=True, slots=True)
class ArtifactSlice:
    """A part of an artifact: bytes [start, stop); `first_line` is the line (from 1) on which `start` lies."""

    artifact: Artifact
    content: bytes
    start: int
    first_line: int

    @property
    def stop(self) -> int:
        """The offset behind its last byte."""
        return self.start + len(self.content)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The working state at one `seq`. `head` and `branch` are the repository's at that moment."""

    number: int
    seq: int
    at: str
    session: int
    goal: str
    done: tuple[str, ...]
    pending: tuple[str, ...]
    facts: tuple[str, ...]
    constraints: tuple[str, ...]
    next_step: str
    files: tuple[str, ...]
    head: str | None
    branch: str | None
    tokens: int

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `C3`."""
        return f"C{self.number}"


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """The outcome of `checkpoint_state`; `checkpoint` is the origin itself for a bare fork.

    `opened`, `closed` and `kept` compare its pending items with those of `previous` (a checkpoint's number); items
    that it neither lists nor says are done are closed too. `brief` is what the brief is made from now.
    """

    checkpoint: Checkpoint
    receipt: Receipt
    repeated: bool
    session: int
    forked_from: int | None
    previous: int | None
    opened: tuple[str, ...]
    closed: tuple[str, ...]
    kept: tuple[str, ...]
    brief: BriefState


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece of history: a message, a tool call, a tool result. `before` and `after` are its neighbours' seqs."""

    seq: int
    at: str
    session: int
    role: str
    text: str
    tool: str | None
    call_id: str | None
    external_id: str | None
    tokens: int
    tokens_estimated: bool
    before: int | None = None
    after: int | None = None

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `H142`."""
        return f"H{self.seq}"


@dataclass(frozen=True, slots=True)
class AppendedMessages:
    """How many messages were new and how many were already in the log; `last_seq` is the newest event's."""

    appended: int
    repeated: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class Fold:
    """One compaction, as recorded. `lost` maps a pin's number to its specifics that the summary dropped."""

    number: int
    seq: int
    at: str
    session: int
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    messages: int | None
    summary: int | None
    lost: dict[int, tuple[str, ...]] = field(default_factory=dict)
    offered: tuple[str, ...] = ()
    strings: tuple[tuple[str, str], ...] = ()

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `F2`."""
        return f"F{self.number}"


@dataclass(frozen=True, slots=True)
class PinHistory:
    """A pin and what became of it: `others` are what it replaced and what replaced it, directly or not, newest
    first; `folds` those it went through while it stood, newest first.
    """

    pin: Pin
    others: tuple[Pin, ...]
    folds: tuple[Fold, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. `tier` is one of those of `SearchPage`; `ref` is an import's external id.

    `note` says e.g. which superseded pin it replaces.
    """

    pointer: str
    kind: str
    at: str
    session: int
    snippet: str
    tier: str
    title: str = ""
    ref: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The outcome of `search_history`. `tier` is that of the best hit, none without one.

    A tier is exact phrase, all words, most words, substring (inside of words, or their beginnings) or word parts
    (only pieces of identifiers, such as `foo` of `foo_1500`). `covered` is the share of the query's words that the
    best hit holds, 0 to 1. `bounded` says that ranking looked at the newest matches only. `pointer` is the search's
    own, e.g. `S8` (None where nothing can be written).
    """

    pointer: str | None
    tier: str
    hits: tuple[Hit, ...]
    covered: float
    bounded: bool
    next_cursor: str | None
    missed: str | None = None


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """One earlier search: what was asked and what it gave. `missed` says why it counts as a miss, if it does."""

    number: int
    seq: int | None
    at: str
    session: int
    query: str
    hits: tuple[str, ...]
    missed: str | None = None


@dataclass(frozen=True, slots=True)
class BriefState:
    """All that the brief is made from, read in one snapshot.

    `pins` are those live at `epoch` (the seq of the last rewrite: session start or fold) in number order, then newer
    ones; what was superseded since `epoch` is still among them. `closed` are pending items of `checkpoint` that are
    done in it or in any later one. `artifacts` are the newest, newest first, of `artifact_count` in all.
    """

    project: str
    session: int | None
    seq: int
    epoch: int
    pins: tuple[Pin, ...]
    checkpoint: Checkpoint | None
    closed: tuple[str, ...]
    artifacts: tuple[Artifact, ...]
    artifact_count: int
    fold: Fold | None


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The store at a glance. `read_only` says why it cannot be written, if it cannot."""

    project: str
    location: str
    events: int
    live_pins: int
    artifacts: int
    checkpoints: int
    sessions: int
    size_bytes: int
    engine: str
    journal: str
    read_only: str | None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What `verify` found: each problem is one line; none means that everything matches."""

    events: int
    artifacts: int
    problems: tuple[str, ...]
    tip: Receipt | None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
