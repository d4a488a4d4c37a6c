"""The log as it stands, for an export or a copy: events in slices, none of which keeps anybody waiting."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from pinfold.store.events import digest_of, link

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

    def follows(self, previous: bytes) -> bool:
        """Whether it is what it was, behind an event with the digest `previous`. Source: P10."""
        *envelope, body, body_digest, digest = astuple(self)
        is_whole = body is None or digest_of(body) == body_digest
        return is_whole and bool(link(previous, tuple(envelope), body_digest) == digest)


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
