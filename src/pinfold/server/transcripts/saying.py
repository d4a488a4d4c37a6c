"""Pins from what is said: `DECISION:` lines of a user's prompt or of the agent's own message, once each."""

from __future__ import annotations

from dataclasses import replace

from pinfold.context.estimate import ceiling
from pinfold.context.pin_lines import pin_text
from pinfold.context.said import AGENT_SAID, LABELS, USER_SAID, Said, said
from pinfold.server.transcripts.items import Spoken
from pinfold.store.commands import PinDecision
from pinfold.store.redaction import Redactor
from pinfold.store.values import Caller

_SPEAKERS = {"user": USER_SAID, "assistant": AGENT_SAID}


def pins_in(spoken: Spoken, caller: Caller, redactor: Redactor) -> tuple[PinDecision, ...]:
    """Return the pins that the marked lines of a message are."""
    if spoken.role not in _SPEAKERS or not any(label in spoken.text for label in LABELS):
        return ()
    found = said(spoken.text, _SPEAKERS[spoken.role])
    who = replace(caller, actor="user" if spoken.role == "user" else "agent")
    at = spoken.at or ""
    return tuple(pin_of(line, who, redactor, at) for line in found if line.fault is None)


def pin_of(line: Said, caller: Caller, redactor: Redactor, said_at: str) -> PinDecision:
    """Return the pin that a marked line is; a hook and a later reading of the transcript agree on it."""
    from pinfold.context.specifics import specifics  # its patterns are many, and few lines are said

    clean = replace(line, text=redactor.text(line.text).text, why=redactor.text(line.why).text)
    return PinDecision(
        caller,
        clean.text,
        clean.why,
        kind=clean.kind,
        specifics=specifics(f"{clean.text}\n{clean.why}"),
        tokens=ceiling(pin_text(clean.text, clean.why)),
        said_at=said_at,
    )
