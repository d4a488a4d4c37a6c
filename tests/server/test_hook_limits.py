"""A hook that its client cuts off has recorded nothing of what it came for, so reading has to leave it time."""

from __future__ import annotations

from pinfold.server.hooks import EVENTS
from pinfold.server.hooks.catching_up import limit_s
from pinfold.server.install.hooks import hook_items
from pinfold.server.install.place import Launch

START_S = 0.2
WAIT_S = 3.0
"""For the lock: once before reading, once for what is written behind it; a session's end waits for 0.3 s."""

AUDIT_S = 3.0
CLAUDE_SESSION_END_S = 1.5


def _timeouts() -> dict[str, float]:
    """Return how long a client waits for each event, by what `pinfold install` writes."""
    items = hook_items(Launch(("pinfold",), None), "claude", None)
    hooks = [item.value["hooks"][0] for item in items if isinstance(item.value, dict)]
    words = [(hook["command"].split(), hook["timeout"]) for hook in hooks]
    return {command[command.index("hook") + 1]: timeout for command, timeout in words}


def test_no_event_reads_for_longer_than_leaves_time_for_its_own_work() -> None:
    timeouts = _timeouts()
    assert timeouts.keys() == EVENTS.keys()
    del timeouts["session-end"]
    late = [event for event, s in timeouts.items() if START_S + 2 * WAIT_S + limit_s(event) + AUDIT_S > s]
    assert late == ["user-prompt-submit"]  # which does not read


def test_the_end_of_a_session_reads_within_what_claude_code_gives_all_hooks_together() -> None:
    assert START_S + 2 * 0.3 + limit_s("session-end") < CLAUDE_SESSION_END_S
