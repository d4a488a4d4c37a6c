"""SubagentStop: a sub-agent's answer is kept as an entry, its transcript beside it; its exploration stays out.

Claude Code lets a fork of the agent write a compaction's summary, which ends with this event, too, and before the
session start that follows the compaction: so the fold is recorded here.
"""

from __future__ import annotations

import os

from pinfold.server.hooks.compaction import tell
from pinfold.server.hooks.occasion import Occasion
from pinfold.server.transcripts.subagents import Answer, keep_answer


def act(occasion: Occasion) -> str:
    """Keep the answer, or record the fold."""
    told = occasion.particulars.told_fold(occasion)
    with occasion.store() as store:
        if told is not None:
            tell(occasion, store, told)
        elif answer := _answer(occasion):
            keep_answer(store, occasion.caller, answer)
    return ""


def _answer(occasion: Occasion) -> Answer | None:
    agent, text = occasion.text("agent_id"), occasion.text("last_assistant_message")
    if agent is None or text is None or occasion.payload.get("agent_type") == "":
        return None  # what has no type was nobody's sub-agent
    path = occasion.path("agent_transcript_path")
    transcript = path if path is not None and os.path.isfile(path) else None  # a pipe would never end
    return Answer(agent, occasion.text("agent_type") or "sub-agent", text, transcript)
