"""The chain of digests, looked at event by event. Source: P10."""

from __future__ import annotations

from collections.abc import Iterator

from pinfold.store.events import digest_of, link
from pinfold.store.sql.database import Row


def event_problems(row: Row, previous: bytes) -> Iterator[str]:
    """Yield what is wrong with an event's row, which stands behind the one with the digest `previous`."""
    if row["body"] is not None and digest_of(row["body"]) != row["body_digest"]:
        yield f"event {row['seq']}: its body was changed"
    names = ("seq", "at", "session", "actor", "kind", "key", "parent", "version")
    if row["digest"] != link(previous, tuple(row[name] for name in names), row["body_digest"]):
        yield f"event {row['seq']}: it does not follow the one before (changed, swapped or inserted)"
