"""Pins from what is said: `DECISION:` lines of a user's prompt or of the agent's own message, once each."""

from __future__ import annotations

from dataclasses import replace

from pinfold.context.estimate import ceiling
from pinfold.context.pin_lines import pin_text
from pinfold.context.said import AGENT_SAID, USER_SAID, Said, said
from pinfold.server.transcripts.items import Spoken
from pinfold.store.commands import PinDecision
from pinfold.store.results import PinnedDecision
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

_SPEAKERS = {"user": USER_SAID, "assistant": AGENT_SAID}
_LABELS = ("DECISION", "CONSTRAINT", "DEAD END", "FACT")


def pin_what_is_said(store: SyncStore, caller: Caller, spoken: Spoken) -> int:
    """Pin the marked lines of a message, each once per conversation; return how many were new."""
    if spoken.role not in _SPEAKERS or not any(label in spoken.text for label in _LABELS):
        return 0
    found = said(spoken.text, _SPEAKERS[spoken.role])
    who = replace(caller, actor="user" if spoken.role == "user" else "agent")
    outcomes = [pin_said(store, who, each) for each in found if each.fault is None]
    return sum(not outcome.repeated for outcome in outcomes)


def pin_said(store: SyncStore, caller: Caller, line: Said) -> PinnedDecision:
    """Pin one marked line; its key makes a hook and a reading of the transcript agree on it."""
    from pinfold.context.specifics import specifics  # its patterns are many, and few lines are said

    clean = store.redactor.text
    text, why = clean(line.text).text, clean(line.why).text
    return store.pin_decision(
        PinDecision(
            caller,
            text,
            why,
            kind=line.kind,
            specifics=specifics(f"{text}\n{why}"),
            tokens=ceiling(pin_text(text, why)),
            key=line.key(f"{caller.client}/{caller.conversation}"),
        )
    )
