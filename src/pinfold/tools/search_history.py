"""search_history: find what was decided, ruled out, checkpointed or spilled earlier in this project."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from pinfold.context.visible import shorten
from pinfold.store.commands import SearchHistory as Command
from pinfold.store.errors import InvalidInputError
from pinfold.store.search_results import HIT_KINDS, LEARNED_TIER, Hit, SearchPage
from pinfold.store.values import MAX_PATH_CHARS, Pointer, PointerKind
from pinfold.tools.arguments import Arguments
from pinfold.tools.checks import Check, Choice, Items, PointerTo, Query, Text, Whole
from pinfold.tools.coverage import looked_through, partly_searched
from pinfold.tools.pointers import quote
from pinfold.tools.render import NOTE, day, fenced, lean, lines
from pinfold.tools.tool import READS, Desk, Reply, Tool

_MAX_QUERY_CHARS = 16 * 1024 * 1024  # more than a line of the wire holds: no query is too long
_MAX_CURSOR_CHARS = 32_000  # the last page of eight phrasings names some thousand entries
_MAX_LIMIT = 50
_SNIPPET_CHARS = 160
_TITLE_CHARS = 60
_NAMED = 5
_LITTLE = 1 / 3
_AGO = re.compile(r"(\d{1,5})\s*([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class _Moment(Check):
    """A date, a time, or how long ago: `2026-03-14`, `7d`."""

    def read(self, name: str, value: object) -> str:
        """Return the instant in UTC as ISO 8601."""
        try:
            return _instant(value.strip() if isinstance(value, str) else "", datetime.now(UTC))
        except (ValueError, OverflowError):
            raise InvalidInputError(
                f"`{name}` cannot be {quote(value)}.",
                "Give a date such as 2026-03-14, or an age such as 7d or 12h.",
            ) from None

    def schema(self) -> dict[str, Any]:
        """Describe it as a string."""
        return {"type": "string"}


def _instant(text: str, now: datetime) -> str:
    if ago := _AGO.fullmatch(text.lower()):
        moment = now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    else:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")


class SearchHistory(Arguments):
    """Arguments of search_history."""

    query: Annotated[str, Text(_MAX_QUERY_CHARS, advice="Search for fewer words.")]
    kinds: Annotated[tuple[str, ...], Items(Choice(HIT_KINDS))] = ()
    session: Annotated[int, Whole(1, 10**9, prefix="s")] = 0
    since: Annotated[str, _Moment(), Field(description="2026-03-14 or 7d")] = ""
    path: Annotated[str, Text(MAX_PATH_CHARS)] = ""
    limit: Annotated[int, Whole(1, _MAX_LIMIT)] = 5
    cursor: Annotated[str, Query(_MAX_CURSOR_CHARS)] = ""
    missed: Annotated[
        Pointer | None, PointerTo(PointerKind.SEARCH), Field(description="S8: it missed what I needed")
    ] = None


async def run(desk: Desk, arguments: SearchHistory) -> Reply:
    """Search; raises as `Store.search_history`."""
    page = await desk.store.search_history(
        Command(
            caller=desk.caller,
            query=arguments.query,
            kinds=tuple(dict.fromkeys(arguments.kinds)),
            session=arguments.session or None,
            since=arguments.since or None,
            path=arguments.path or None,
            limit=arguments.limit,
            cursor=arguments.cursor or None,
            missed=arguments.missed,
        )
    )
    return _reply(desk, page, is_first=not arguments.cursor)


def _reply(desk: Desk, page: SearchPage, *, is_first: bool) -> Reply:
    advice = _advice(page) if page.hits or is_first else None
    facts = lean(
        {
            "search": page.pointer,
            "tier": page.tier,
            "covered": round(page.covered, 2),
            "hits": [_told(hit, page.tier) for hit in page.hits],
            "advice": advice,
            "missed": page.missed,
            "newest_only": page.bounded,
            "unquoted": page.unquoted and bool(page.hits),
            "repeats": list(page.repeats),
            "through": list(page.through),
            "partly": list(page.partly),
            "next": page.next_cursor,
            "note": NOTE if page.hits else None,
        }
    )
    found = "\n".join(_line(hit) for hit in page.hits)
    text = lines(
        [
            _head(page, is_first=is_first),
            fenced(desk.store, found) if found else None,
            advice,
            looked_through(page.through),
            partly_searched(page.partly),
            f"like hits of earlier pages: {_named(page.repeats)}" if page.repeats else None,
            f"recorded: {page.missed} missed" if page.missed else None,
            f'more: same query with cursor="{page.next_cursor}"' if page.next_cursor else None,
        ]
    )
    return Reply(text, facts | {"hits": facts.get("hits", [])})


def _head(page: SearchPage, *, is_first: bool) -> str:
    name = f"{page.pointer} " if page.pointer else ""
    if not (page.hits or is_first):
        return f"{name}nothing new on this page"
    if not page.hits:
        return f"{name}nothing found{', among the newest entries' if page.bounded else ''}"
    bounded = ", among the newest matches" if page.bounded else ""
    name += "nothing holds the quoted phrase; " if page.unquoted else ""
    tiers = Counter(hit.tier for hit in page.hits)
    if len(tiers) == 1:
        return f"{name}{len(page.hits)} found by {page.tier}{bounded}"
    shares = ", ".join(f"{count} by {tier}" for tier, count in tiers.items())
    return f"{name}{len(page.hits)} found: {shares}{bounded}"


def _advice(page: SearchPage) -> str | None:
    if not page.hits and page.bounded:
        return (
            "Older entries were not looked at for words this common or for parts of words: add a rarer word."
        )
    if not page.hits:
        return "Try other words, fewer filters, or the exact identifier; put each phrasing on its own line."
    if page.covered < _LITTLE and page.tier != LEARNED_TIER:
        return "The best hit covers under a third of the query's words: try other words or the identifier."
    return None


def _line(hit: Hit) -> str:
    title = f"{shorten(hit.title, _TITLE_CHARS)}: " if hit.title else ""
    note = f" ({shorten(hit.note, _SNIPPET_CHARS)})" if hit.note else ""
    like = f" (and {len(hit.like)} more like it: {_named(hit.like)})" if hit.like else ""
    snippet = shorten(hit.snippet, _SNIPPET_CHARS)
    return f"{hit.pointer} {hit.kind} {day(hit.at)} s{hit.session} {title}{snippet}{note}{like}"


def _named(pointers: tuple[str, ...]) -> str:
    more = ", …" if len(pointers) > _NAMED else ""
    return ", ".join(pointers[:_NAMED]) + more


def _told(hit: Hit, tier: str) -> dict[str, Any]:
    return lean(
        {
            "pointer": hit.pointer,
            "kind": hit.kind,
            "at": day(hit.at),
            "session": hit.session,
            "title": shorten(hit.title, _TITLE_CHARS),
            "text": hit.snippet,
            "tier": hit.tier if hit.tier != tier else None,
            "ref": hit.ref,
            "note": hit.note,
            "like": list(hit.like),
        }
    )


TOOL = Tool(
    name="search_history",
    title="Search history",
    description=(
        "Find pins, dead ends, checkpoints and spilled output (and imported messages) of this project, from "
        "any session, before asking again or retrying. Quoted parts are phrases; "
        "alternative phrasings go on separate lines. Returns pointers with one-line snippets."
    ),
    arguments=SearchHistory,
    annotations=READS,
    run=run,
)
