"""The brief, as a session is given it, now or at an earlier moment of the log."""

from __future__ import annotations

import os

from pinfold.context.brief import DEFAULT_BUDGET, render_brief
from pinfold.server.clients import identify
from pinfold.server.ui.looking import Look, Page
from pinfold.server.ui.marking import linked
from pinfold.store.values import Caller


async def show(look: Look) -> Page:
    """Show the brief, or with `as_of` (a seq) what it was then."""
    state = await look.store.brief_state(
        Caller(*identify("", {}, os.environ), actor="cli"), look.whole("as_of")
    )
    brief = render_brief(state, look.store.fence)
    facts = {"brief": brief, "text": linked(brief.text), "state": state, "budget": DEFAULT_BUDGET}
    return Page("brief.html", "The brief", facts, "brief")
