"""An entry of the history: a message, a tool call, a tool result, with its neighbours."""

from __future__ import annotations

from pinfold.server.ui.looking import Look, Page
from pinfold.server.ui.marking import linked
from pinfold.server.ui.slices import slice_of
from pinfold.tools.body import TextBody


async def one(look: Look) -> Page:
    """Show an entry, a long one by parts."""
    entry = await look.store.entry(look.number)
    sliced = await slice_of(TextBody(entry.text), look, entry.pointer)
    facts = {"entry": entry, "slice": sliced, "text": linked("\n".join(sliced.lines))}
    return Page("entry.html", f"{entry.pointer}, {entry.role.replace('_', ' ')}", facts, "sessions")
