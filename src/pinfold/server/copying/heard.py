"""What another log has heard of a source: each thing that was told to it stands there under a name of its own."""

from __future__ import annotations

import json

from pinfold.store import Store
from pinfold.store.events import Kind
from pinfold.store.logged import LoggedEvent

_PREFIX = "join:"
_DIGITS = 32
NUMBERED: dict[str, str] = {
    Kind.SESSION_STARTED: "s",
    Kind.DECISION_PINNED: "P",
    Kind.ARTIFACT_SPILLED: "A",
    Kind.STATE_CHECKPOINTED: "C",
    Kind.FOLD_RECORDED: "F",
}
"""Kinds whose bodies have a number, by the letter of its pointer."""

FORGOTTEN = ""
"""Stands for the pointer of what was heard and is forgotten there."""


def name_of(digest: bytes) -> str:
    """Return the name of the event of that digest, as key or id of a message: no other of any log has it."""
    return f"{_PREFIX}{digest.hex()[:_DIGITS]}"


class Heard:
    """Names and pointers of what a destination holds behind the event `after`, as far as it was read."""

    def __init__(self, destination: Store, after: int) -> None:
        self._destination = destination
        self._read = after
        self._pointers: dict[str, str] = {}
        self._sessions: dict[str, int] = {}

    async def catch_up(self) -> None:
        """Read what has come since."""
        while batch := await self._destination.logged(self._read):
            for event in batch:
                self._note(event)
            self._read = batch[-1].seq

    def pointer(self, name: str) -> str | None:
        """Return the pointer of what was told under a name, `FORGOTTEN`, or None where it was not."""
        return self._pointers.get(name)

    def session(self, name: str) -> str:
        """Return the session, as `s3`, in which something was told that has a pointer."""
        return f"s{self._sessions[name]}"

    def _note(self, event: LoggedEvent) -> None:
        body = None if event.body is None else json.loads(event.body)
        if event.kind == Kind.MESSAGE_APPENDED and body is not None:
            self._pointers[body.get("external_id", "")] = f"H{event.seq}"
        elif event.key is not None and event.key.startswith(_PREFIX):
            self._sessions[event.key] = event.session
            self._pointers[event.key] = f"{NUMBERED[event.kind]}{body['number']}" if body else FORGOTTEN
