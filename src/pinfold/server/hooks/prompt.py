"""UserPromptSubmit: a line that begins with `DECISION:` and the like becomes a pin by the user; else silence."""

from __future__ import annotations

from dataclasses import replace

from pinfold.context.said import USER_SAID, said
from pinfold.server.hooks.occasion import Occasion
from pinfold.server.transcripts.saying import pin_of
from pinfold.store.commands import SAID_NOW


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
        pins = []
        for line in fit:
            with occasion.attempt():
                pins.append(store.pin_decision(pin_of(line, caller, store.redactor, SAID_NOW)))
    return "".join(
        f"pinfold: {what} from the prompt: {', '.join(pointers)}\n"
        for what, repeated in (("pinned", False), ("already pinned", True))
        if (pointers := [each.pin.pointer for each in pins if each.repeated is repeated])
    )
