"""What pinfold does at each event of a client. Source: design 3 (Hooks)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from pinfold.server.hooks.occasion import Occasion, read_occasion
from pinfold.store.errors import InvalidInputError

EVENTS = {
    "session-start": "session_start",
    "user-prompt-submit": "prompt",
    "post-tool-use": "tool_output",
    "pre-compact": "compaction:before",
    "post-compact": "compaction:after",
    "subagent-stop": "subagent",
    "stop": "catching_up",
    "session-end": "catching_up",
}
"""By event: the module that carries it out, and its function where that is not `act`."""


def run(event: str, options: list[str], payload: bytes) -> tuple[str, list[str]]:
    """Carry out one event; return what the client is to read, which is nothing for most, and what went wrong.

    Raises `InvalidInputError` for an unknown event, a wrong option, or a payload that is no event.
    """
    occasion = read_occasion(_known(event), options, payload)
    module, _, function = EVENTS[occasion.event].partition(":")
    act: Callable[[Occasion], str] = getattr(
        import_module(f"pinfold.server.hooks.{module}"), function or "act"
    )
    return act(occasion), occasion.faults


def _known(event: str) -> str:
    squashed = "".join(letter for letter in event.lower() if letter.isalpha())
    for name in EVENTS:
        if name.replace("-", "") == squashed:
            return name
    raise InvalidInputError(
        f"There is no hook {event[:40]!r}." if event else "No event is named.",
        f"The events are {', '.join(EVENTS)}.",
    )
