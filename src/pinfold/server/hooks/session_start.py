"""SessionStart: the session is registered, what is new is read, and the brief goes back into the context."""

from __future__ import annotations

from pinfold.context.brief import DEFAULT_BUDGET, Budget, render_brief
from pinfold.context.repository_lines import moved_since
from pinfold.server.hooks.catching_up import catch_up
from pinfold.server.hooks.occasion import Occasion
from pinfold.store.commands import StartSession
from pinfold.store.sync import SyncStore


def act(occasion: Occasion) -> str:
    """Return the brief, plain text that the client adds to the context."""
    caller, path = occasion.caller, occasion.transcript
    start = StartSession(
        caller,
        occasion.particulars.run_of() or occasion.conversation,
        str(path) if path else None,
        occasion.text("model"),
    )
    with occasion.store() as store:
        with occasion.attempt():
            store.start_session(start)
        with occasion.attempt():
            catch_up(occasion, store)
        if occasion.team is not None:
            return occasion.team.brief(lambda: _brief(occasion, store), occasion.faults)
        return _brief(occasion, store)


def _brief(occasion: Occasion, store: SyncStore) -> str:
    caller = occasion.caller
    state = store.brief_state(caller)
    moved = f"{note}\n" if (note := moved_since(state, caller)) else ""
    budget = Budget(chars=DEFAULT_BUDGET.chars - len(moved), size_bytes=occasion.particulars.BRIEF_BYTES)
    return render_brief(state, store.fence, budget).text + moved
