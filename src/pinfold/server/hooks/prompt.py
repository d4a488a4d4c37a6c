"""UserPromptSubmit: a line that begins with `DECISION:` and the like becomes a pin by the user; else silence."""

from __future__ import annotations

from dataclasses import replace

from pinfold.context.said import USER_SAID, said
from pinfold.server.hooks.occasion import Occasion
from pinfold.server.transcripts.saying import pin_said


def act(occasion: Occasion) -> str:
    """Return one line that says what was pinned, for the agent to know its pointer."""
    found = said(occasion.particulars.typed_prompt(occasion), USER_SAID)
    occasion.faults.extend(
        f"A {line.kind.value} was not pinned. {line.fault}" for line in found if line.fault is not None
    )
    fit = [line for line in found if line.fault is None]
    if not fit:
        return ""
    caller = replace(occasion.caller, actor="user")
    with occasion.store() as store:
        pins = [pin_said(store, caller, line).pin for line in fit]
    return f"pinfold: pinned from the prompt: {', '.join(pin.pointer for pin in pins)}\n"
