"""What a store answers: frozen facts, in the words of the design, with pointers as the only handles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinfold.store.commands import Outline
from pinfold.store.values import PinKind, Receipt


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

    @property
    def is_part_searchable(self) -> bool:
        """Whether search finds its ends, and nothing between them."""
        return 0 < self.indexed_bytes < self.size_bytes


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
    """A message, a tool call or a tool result. `before` and `after` are its neighbours' seqs, `omitted` how requests of
    its session leave it out, and since which seq.
    """

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
    omitted: tuple[str, int] | None = None

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `H142`."""
        return f"H{self.seq}"


@dataclass(frozen=True, slots=True)
class AppendedMessages:
    """How many messages were new and how many were already in the log; `last_seq` is the newest event's.

    `pinned` counts the pins that the new ones brought along and that were new, too.
    """

    appended: int
    repeated: int
    last_seq: int
    pinned: int = 0


@dataclass(frozen=True, slots=True)
class Fold:
    """One compaction, as recorded, with its audit.

    `present` maps a pin's number to how many of its specifics stood before the fold, `lost` to those of them that
    the summary dropped. `offered` are (pointer, sentence) of what reads as an unpinned decision and is not in the
    summary, best first; `strings` are (string, pointer) of what was in play and is not in it either.
    """

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
    offered: tuple[tuple[str, str], ...] = ()
    strings: tuple[tuple[str, str], ...] = ()
    present: dict[int, int] = field(default_factory=dict)

    @property
    def pointer(self) -> str:
        """Its pointer, e.g. `F2`."""
        return f"F{self.number}"


@dataclass(frozen=True, slots=True)
class RecordedFold:
    """The outcome of `record_fold`."""

    fold: Fold
    receipt: Receipt
    repeated: bool


@dataclass(frozen=True, slots=True)
class CommittedProjection:
    """The outcome of `commit_projection`."""

    receipt: Receipt
    repeated: bool


@dataclass(frozen=True, slots=True)
class FormerSummary:
    """What the last fold left of what it folded: the next one folds it again. `pointer` leads to all of it."""

    seq: int
    pointer: str
    text: str
    role: str = "assistant"


@dataclass(frozen=True, slots=True)
class FoldedPart:
    """What a fold would fold now: the entries of a session since its last fold, oldest first, and the live pins.

    At most `FOLDED_ENTRIES` entries and `FOLDED_BYTES` of text, the newest; `left_out` counts older ones.
    `since` is the seq of the last fold, or of the session's start; `former` the summary that stood before them.
    """

    session: int | None
    since: int
    entries: tuple[Entry, ...]
    pins: tuple[Pin, ...]
    left_out: int = 0
    former: FormerSummary | None = None


@dataclass(frozen=True, slots=True)
class StartedSession:
    """The outcome of `start_session`; `repeated` where the conversation already continued this session."""

    session: int
    receipt: Receipt | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class PinHistory:
    """A pin, the `others` that it replaced or that replaced it, the `folds` it went through; both newest first."""

    pin: Pin
    others: tuple[Pin, ...]
    folds: tuple[Fold, ...]


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
    """The store at a glance. `read_only` says why it cannot be written, if it cannot.

    `aside` counts those of the `artifacts` that nobody asked for and no brief lists. `client` is that of the newest
    session of an agent; `hooks` says for each client when a hook of it last told of a session or a fold, newest first;
    `model` is the newest that one named.
    """

    project: str
    location: str
    events: int
    live_pins: int
    artifacts: int
    aside: int
    checkpoints: int
    sessions: int
    size_bytes: int
    engine: str
    journal: str
    read_only: str | None
    client: str | None = None
    hooks: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What `verify` found, a line for each problem; `held` are the receipts given that the log bears out."""

    events: int
    artifacts: int
    problems: tuple[str, ...]
    tip: Receipt | None
    held: tuple[Receipt, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
