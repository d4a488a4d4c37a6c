"""SessionStart: the session is registered, what is new is read, and the brief goes back into the context."""

from __future__ import annotations

from pinfold.context.brief import Budget, render_brief
from pinfold.context.repository_lines import moved_since
from pinfold.server.hooks.catching_up import catch_up
from pinfold.server.hooks.occasion import Occasion
from pinfold.store.commands import StartSession


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
            catch_up(occasion, store)
        state = store.brief_state(caller)
        brief = render_brief(state, store.fence, Budget(size_bytes=occasion.particulars.BRIEF_BYTES))
    moved = moved_since(state, caller)
    return brief.text + (f"{moved}\n" if moved else "")
