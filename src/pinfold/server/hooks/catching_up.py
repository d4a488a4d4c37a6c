"""Stop and SessionEnd, and what most events do first: what is new in the transcript gets into the log."""

from __future__ import annotations

import os
import time

from pinfold.server.hooks.occasion import Occasion
from pinfold.store.errors import PinfoldError
from pinfold.store.sync import SyncStore

_LIMIT_S = 5.0
_LIMITS_S = {"session-end": 0.6, "pre-compact": 20.0, "post-compact": 10.0, "subagent-stop": 10.0}
"""Well within what `install/hooks.py` makes a client wait; a later event reads what this one did not.

Claude Code gives all hooks of a session's end 1.5 s together. Behind a compaction it still has to be audited in time.
"""


def act(occasion: Occasion) -> str:
    """Read on, as far as there is time."""
    if _has_transcript(occasion):
        with occasion.store() as store:
            catch_up(occasion, store)
    return ""


def catch_up(occasion: Occasion, store: SyncStore) -> bool:
    """Read what is new in the event's transcript, where it has one, for at most as long as its client waits.

    Return whether nothing was left unread.
    """
    path = occasion.transcript
    if path is None or not _has_transcript(occasion):
        return True
    from pinfold.server.transcripts.finding import found_at  # a new conversation has nothing to read yet
    from pinfold.server.transcripts.follow import Source, follow

    team = occasion.team
    deadline = time.monotonic() + (limit_s(occasion.event) if team is None else team.reading_s)
    found = found_at(path, occasion.client)
    if found is None:
        return True
    try:
        return follow(store, Source(found, occasion.caller, briefed=True), deadline).is_complete
    except PinfoldError as error:
        if team is None:
            raise
        raise team.read_later(found, occasion.conversation, error) from error


def limit_s(event: str) -> float:
    """Return for how many seconds an event may read."""
    return _LIMITS_S.get(event, _LIMIT_S)


def _has_transcript(occasion: Occasion) -> bool:
    return occasion.transcript is not None and os.path.isfile(occasion.transcript)  # a pipe would never end
