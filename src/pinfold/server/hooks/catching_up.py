"""Stop and SessionEnd, and what most events do first: what is new in the transcript gets into the log."""

from __future__ import annotations

import os
import time

from pinfold.server.hooks.occasion import Occasion
from pinfold.store.sqlite.direct import DirectStore

_LIMITS_S = {"session-end": 0.6, "session-start": 5.0, "stop": 5.0}
"""Claude Code gives all hooks of a session's end 1.5 s together; a later event reads what this one did not."""

_COMPACTION_S = 20.0


def act(occasion: Occasion) -> str:
    """Read on, as far as there is time."""
    if _has_transcript(occasion):
        with occasion.store() as store:
            catch_up(occasion, store)
    return ""


def catch_up(occasion: Occasion, store: DirectStore) -> None:
    """Read what is new in the event's transcript, where it has one, for at most as long as its client waits."""
    path = occasion.transcript
    if path is None or not _has_transcript(occasion):
        return
    from pinfold.server.transcripts.finding import found_at  # a new conversation has nothing to read yet
    from pinfold.server.transcripts.follow import Source, follow

    deadline = time.monotonic() + _LIMITS_S.get(occasion.event, _COMPACTION_S)
    found = found_at(path, occasion.client)
    if found is not None:
        follow(store, Source(found, occasion.caller, briefed=True), deadline)


def _has_transcript(occasion: Occasion) -> bool:
    return occasion.transcript is not None and os.path.isfile(occasion.transcript)  # a pipe would never end
