"""The log's vocabulary: the envelope, the kinds, the canonical form and the digest chain.

Nothing here does I/O. A body is a JSON object; its canonical text is what is stored and digested.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pinfold.store.errors import ReadOnlyError

Body = dict[str, Any]

GENESIS = bytes(32)
"""What stands before the first event in the digest chain."""

BODY_VERSION = 1


class Kind(StrEnum):
    """Every kind of event that can stand in the log, named in the past tense."""

    SESSION_STARTED = "session.started"
    MESSAGE_APPENDED = "message.appended"
    ARTIFACT_SPILLED = "artifact.spilled"
    DECISION_PINNED = "decision.pinned"
    DECISION_SUPERSEDED = "decision.superseded"
    STATE_CHECKPOINTED = "state.checkpointed"
    PROJECTION_COMMITTED = "projection.committed"
    FOLD_RECORDED = "fold.recorded"
    SEARCH_MISSED = "search.missed"
    SEARCH_ANSWERED = "search.answered"
    ENTRY_FORGOTTEN = "entry.forgotten"


@dataclass(frozen=True, slots=True)
class Event:
    """One immutable fact: the envelope of the log, with its place in the digest chain.

    `seq` counts from 1 without gaps; `at` is UTC with microseconds and orders nothing; `session` is the session's
    number (0 before any); `parent` is the seq of the event it follows in its session's chain (0 for none);
    `body` is None once it has been forgotten, while `body_digest` keeps the chain verifiable.
    """

    seq: int
    at: str
    session: int
    actor: str
    kind: Kind
    key: str | None
    parent: int
    version: int
    body: Body | None
    body_digest: bytes
    digest: bytes


def canonical(value: object) -> str:
    """Return the one JSON text for a value: sorted keys, no spaces, no NaN, characters as they are.

    Raises `ValueError` for NaN and infinities. Source: design 1, The log.
    """
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(text: str) -> bytes:
    """Return the SHA-256 of a text in UTF-8; raises `UnicodeEncodeError` for a lone surrogate."""
    return hashlib.sha256(text.encode()).digest()


def link(previous: bytes, envelope: tuple[object, ...], body_digest: bytes) -> bytes:
    """Return the chain's next digest: SHA-256 over the previous one and the canonical event.

    `envelope` is (seq, at, session, actor, kind, key, parent, version); the body enters through its own digest,
    so that a forgotten body leaves the chain verifiable. Source: P10.
    """
    return hashlib.sha256(previous + canonical(envelope).encode() + body_digest).digest()


def body_of(text: str, version: int) -> Body:
    """Return a stored body, lifted to the current version by pure functions.

    Raises `ReadOnlyError` for one of a version to come, which only a newer pinfold has written.
    """
    if version > BODY_VERSION:
        raise ReadOnlyError(
            f"a newer pinfold wrote an event of it (body version {version}, this one knows {BODY_VERSION})",
            "Update pinfold; what is older can be read.",
        )
    body: Body = json.loads(text)
    return body
