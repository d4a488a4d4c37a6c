"""What a source's log has said so far, as far as later events speak of it: sessions, artifacts, folds, messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from pinfold.server.copying.heard import name_of
from pinfold.server.copying.reading import Source
from pinfold.server.copying.retelling import Told
from pinfold.store.events import Body, Kind
from pinfold.store.logged import LoggedEvent


@dataclass
class Past:
    """Reads a source from its beginning and remembers what is referred to. `messages` are names by seq."""

    source: Source
    artifacts: dict[int, Told] = field(default_factory=dict)
    folds: dict[int, Told] = field(default_factory=dict)
    messages: dict[int, str] = field(default_factory=dict)
    fold_keys: dict[int, str] = field(default_factory=dict)
    _callers: dict[int, tuple[str, str]] = field(default_factory=dict)

    async def told(self) -> AsyncIterator[Told]:
        """Yield each event that still has its body, and belongs to a session that is known."""
        async for events in self.source.slices(0):
            for event in events:
                if event.kind == Kind.FOLD_RECORDED and event.key is not None:
                    self.fold_keys[event.seq] = event.key
                if event.body is not None and (told := self._told(event, json.loads(event.body))):
                    self._remember(told)
                    yield told

    def _told(self, event: LoggedEvent, body: Body) -> Told | None:
        if event.kind == Kind.SESSION_STARTED:
            self._callers[event.session] = (body["client"], body["conversation"])
        by_nobody = ("", "") if event.kind == Kind.ENTRY_FORGOTTEN else None  # a person forgets in no session
        whose = self._callers.get(event.session, by_nobody)
        return None if whose is None else Told(event, body, *whose, name_of(event.digest))

    def _remember(self, told: Told) -> None:
        match told.event.kind:
            case Kind.ARTIFACT_SPILLED:
                self.artifacts[told.body["number"]] = told
            case Kind.FOLD_RECORDED if not told.body.get("amends"):
                self.folds[told.body["number"]] = told
            case Kind.MESSAGE_APPENDED:
                self.messages[told.event.seq] = told.body.get("external_id") or told.name
