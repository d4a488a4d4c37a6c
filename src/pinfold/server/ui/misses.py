"""Searches that did not surface what was needed, and what finally answered them."""

from __future__ import annotations

from pinfold.server.ui.looking import Look, Page, part


async def listing(look: Look) -> Page:
    """Show the misses, newest first."""
    found = await part(look.store.misses, look, lambda miss: miss.seq or 0)
    return Page("misses.html", "Misses", {"misses": found}, "misses")


async def one(look: Look) -> Page:
    """Show an earlier search, which need not have missed."""
    found = await look.store.search_record(look.number)
    return Page("miss.html", f"S{found.number}, a search", {"miss": found}, "misses")
