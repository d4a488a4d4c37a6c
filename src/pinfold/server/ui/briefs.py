"""The brief, as a session is given it, now or at an earlier moment of the log."""

from __future__ import annotations

from pinfold.context.brief import DEFAULT_BUDGET
from pinfold.server.commands.asking import brief_at
from pinfold.server.ui.looking import Look, Page
from pinfold.server.ui.marking import linked


async def show(look: Look) -> Page:
    """Show the brief, or with `as_of` (a seq) what it was then."""
    state, brief = await brief_at(look.store, look.whole("as_of"))
    facts = {"brief": brief, "text": linked(brief.text), "state": state, "budget": DEFAULT_BUDGET}
    return Page("brief.html", "The brief", facts, "brief")
