"""The search, as the tool does it; looking leaves no record: it gets no number, and finding nothing is no miss."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from pinfold.server.commands.finding import desk_of
from pinfold.server.ui.looking import NAME, Look, Page
from pinfold.server.ui.marking import sought
from pinfold.server.wording import for_person
from pinfold.store.errors import InvalidInputError
from pinfold.store.search_results import HIT_KINDS
from pinfold.tools import call

_FILTERS = ("kinds", "session", "since", "path")
_LIMIT = 20


async def show(look: Look) -> Page:
    """Show the form, and what was found if something was asked, or why that cannot be asked."""
    query = look.text("query")
    given = {name: look.text(name) for name in _FILTERS}
    facts: dict[str, Any] = {
        "query": query,
        "given": given,
        "kinds": HIT_KINDS,
        "found": None,
        "later": None,
        "refused": "",
    }
    facts["pointer"] = query if NAME.fullmatch(query) else ""
    if query:
        try:
            found = await _found(look, query, given)
        except InvalidInputError as error:
            refused = facts | {"refused": str(error)}
            return Page("search.html", "Search", refused, "search", status=400)
        facts |= {"found": found, "later": _later(query, given, found.get("next"))}
        facts["hits"] = [(hit, sought(hit.get("text", ""), query)) for hit in found["hits"]]
    return Page("search.html", f"Search: {query}" if query else "Search", facts, "search")


async def _found(look: Look, query: str, given: dict[str, str]) -> dict[str, Any]:
    arguments: dict[str, object] = {"query": query, "limit": _LIMIT, "cursor": look.text("cursor")}
    arguments |= {name: text for name, text in given.items() if text}
    if given["kinds"]:
        arguments["kinds"] = [given["kinds"]]
    reply = await call(desk_of(look.store), "search_history", arguments)
    head = reply.text.partition("\n")[0]
    return reply.structured | {"head": head, "advice": for_person(reply.structured.get("advice", ""))}


def _later(query: str, given: dict[str, str], cursor: str | None) -> str | None:
    return f"search?{urlencode({'query': query, **given, 'cursor': cursor})}" if cursor else None
