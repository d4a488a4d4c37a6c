"""A team's server as a hook meets it: for a short time, and whether or not it is there. Source: docs/decisions/0017."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pinfold.server.limits import whole_number
from pinfold.server.notes import in_words
from pinfold.server.sending import put_transcript, send_waiting
from pinfold.server.settings import Settings
from pinfold.server.team import TeamProject, team_project_of
from pinfold.server.transcripts.finding import Found
from pinfold.store.errors import DeferredError, MayNotWriteError, PinfoldError
from pinfold.store.private_files import write_private
from pinfold.store.remote.deferring import DeferringStore
from pinfold.store.remote.link import Patience

_LIMIT_MS = 3_000
_SESSION_END_S = 0.6
"""Claude Code gives all hooks of a session's end 1.5 s together, and half a second is gone by now."""

_CONNECT_S = 1.0
_PARTS = 3
"""An event may spend one part on what waits, one on reading on, and has one left for itself."""

_OLD = "pinfold: the team's server is out of reach. Its brief as of {at} (UTC), without anything newer:\n"


@dataclass(frozen=True, slots=True)
class TeamAtHand:
    """The server of one event's project; it is given `limit_s` in all."""

    project: TeamProject
    limit_s: float
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, settings: Settings, event: str) -> TeamAtHand:
        """Return the server that the settings name; `PINFOLD_HOOK_LIMIT_MS` is how long it may take."""
        limit_s = whole_number(os.environ, "PINFOLD_HOOK_LIMIT_MS", _LIMIT_MS, unit="milliseconds") / 1000
        limit_s = min(limit_s, _SESSION_END_S) if event == "session-end" else limit_s
        return cls(team_project_of(settings, os.environ), limit_s)

    @property
    def reading_s(self) -> float:
        """For how many seconds an event may read a transcript."""
        return self.limit_s / _PARTS

    @contextmanager
    def store(self, faults: list[str]) -> Iterator[DeferringStore]:
        """Open the store and send what waits; `faults` is told what the server did not take."""
        store = self.project.open(Patience(_CONNECT_S, self.limit_s, self.limit_s))
        try:
            faults.extend(self._sent(store))
            yield store
        finally:
            store.close()

    def _sent(self, store: DeferringStore) -> list[str]:
        """Send what waits; return what came of it that is to be told."""
        try:
            return send_waiting(store, self.began + self.limit_s / _PARTS).refused
        except Exception as error:  # a bug in sending must not keep anybody from what is stored
            return [in_words(error)]

    def read_later(self, found: Found, conversation: str, error: PinfoldError) -> PinfoldError:
        """Have a transcript read when the server is there; return what to tell instead of the error."""
        if isinstance(error, MayNotWriteError):
            return error
        put_transcript(self.project.outbox, found, conversation)
        return DeferredError(error)

    def brief(self, ask: Callable[[], str], faults: list[str]) -> str:
        """Return the brief, or the last one known where the server does not give it. Raises where none is known."""
        try:
            text = ask()
        except PinfoldError as error:
            known = self._last_brief.read_text("utf-8") if self._last_brief.exists() else None
            if known is None:
                raise
            faults.append(in_words(error))
            return known
        try:
            self._remember(text)
        except OSError as error:  # what is here to be shown is shown all the same
            faults.append(in_words(error))
        return text

    def _remember(self, brief: str) -> None:
        at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        write_private(self._last_brief, (_OLD.format(at=at) + brief).encode())

    @property
    def _last_brief(self) -> Path:
        """What is shown in place of a brief that the server does not give."""
        return self.project.folder / "last-brief"
