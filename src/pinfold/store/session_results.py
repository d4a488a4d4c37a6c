"""What a store tells of a session as a whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its first and its newest event, whose it is, how much is in it.

    A fork follows the event `origin_seq` of the session `origin_session`; `origin` is that checkpoint's number, where
    it is one. `events` counts all events of the session, `pins` and `folds` those that are still there.
    """

    number: int
    seq: int
    at: str
    last_seq: int
    last_at: str
    client: str
    conversation: str
    events: int
    pins: int
    folds: int
    origin: int | None = None
    origin_session: int | None = None
    origin_seq: int | None = None

    @property
    def name(self) -> str:
        """How listings spell it, e.g. `s3`; it is no pointer."""
        return f"s{self.number}"
