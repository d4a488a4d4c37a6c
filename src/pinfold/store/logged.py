"""The log as it stands, for an export or a copy: events in slices, none of which keeps anybody waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinfold.store.content import Content

SLICE_EVENTS = 500
SLICE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event as it is stored. `body` is the canonical text of which `body_digest` is the SHA-256; None: forgotten.

    The other fields are `events.Event`'s.
    """

    seq: int
    at: str
    session: int
    actor: str
    kind: str
    key: str | None
    parent: int
    version: int
    body: str | None
    body_digest: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Where the log ends now; `schema` is that of the store's file. An empty log ends at 0."""

    seq: int
    digest: bytes
    schema: int


@dataclass(frozen=True, slots=True)
class LogPart:
    """The next events of another store's log, as they are stored there; see `Store.receive`.

    `content` are the bytes of the last one, an artifact, where they have not come before. `secret` is that project's
    key, 32 bytes, which an empty log takes over. `blank` are seqs of events that were forgotten there after they had
    been received here; they come with the event that tells of it.
    """

    events: tuple[LoggedEvent, ...]
    content: Content | None = None
    secret: bytes | None = None
    blank: tuple[int, ...] = ()
