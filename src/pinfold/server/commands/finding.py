"""Looking something up: a search as the tool does it, and the recall test on what is pinned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinfold.context.recall import Recall, recall
from pinfold.server.clients import in_shell
from pinfold.server.commands.asking import brief_now
from pinfold.server.commands.reports import ask
from pinfold.server.commands.tables import Report
from pinfold.server.settings import Settings
from pinfold.server.wording import for_person
from pinfold.store import Store
from pinfold.store.results import Pin

if TYPE_CHECKING:
    from pinfold.tools import Desk, Reply

_HIT_COLUMNS = ("pointer", "kind", "when", "session", "title", "text", "note")
_RECALL_COLUMNS = (
    "pin",
    "text",
    "in the brief",
    "in the last summary",
    "not in the brief",
    "not in the summary",
)
_MOST_SUMMARY_BYTES = 4 * 1024 * 1024


def desk_of(store: Store) -> Desk:
    """Return the surroundings of a tool's call from a shell; no folder may be read."""
    from pinfold.tools import Desk
    from pinfold.tools.files import Roots

    return Desk(store, in_shell(), Roots([]))


def search_report(settings: Settings, arguments: Mapping[str, object]) -> Report:
    """Search with the tool's arguments, checked and recorded as the tool does it; finding nothing is a miss."""

    async def question(store: Store) -> Report:
        return _found(await _search(store, arguments))

    return ask(settings, question)


async def _search(store: Store, arguments: Mapping[str, object]) -> Reply:
    from pinfold.tools import call

    return await call(desk_of(store), "search_history", arguments)


def _found(reply: Reply) -> Report:
    advice = for_person(reply.structured.get("advice", ""))
    facts = reply.structured | ({"advice": advice} if advice else {})
    head = reply.text.partition("\n")[0]
    more = "More: raise --limit, or --cursor with the `next` of --json." if "next" in facts else ""
    partly = f"Searched at both ends only: {', '.join(facts['partly'])}." if "partly" in facts else ""
    through = f"Looked through from end to end: {', '.join(facts['through'])}." if "through" in facts else ""
    repeats = f"Like hits of earlier pages: {', '.join(facts['repeats'])}." if "repeats" in facts else ""
    remark = "\n".join(part for part in (head, advice, through, partly, repeats, more) if part)
    return Report(facts, _HIT_COLUMNS, list(map(_hit, facts["hits"])), remark)


def _hit(hit: Mapping[str, Any]) -> tuple[str, ...]:
    names = ("pointer", "kind", "at", "session", "title", "text", "note")
    like = f"like it: {', '.join(hit['like'])}" if "like" in hit else ""
    note = "; ".join(part for part in (hit.get("note"), like) if part)
    shown = {**hit, "session": f"s{hit['session']}", "note": note}
    return tuple(shown.get(name, "") for name in names)


def recall_report(settings: Settings, question: str, limit: int) -> Report:
    """Return, for each standing pin that answers a question, which specifics brief and last summary still show."""

    async def asked(store: Store) -> Report:
        pins = await _matching(store, question, limit)
        brief = (await brief_now(store))[1]
        fold, summary = await _last_summary(store)
        found = [recall(pin, brief, summary) for pin in pins]
        facts = {"project": store.project, "fold": fold, "pins": list(map(_facts, found))}
        return Report(facts, _RECALL_COLUMNS, list(map(_row, found)), _remark(found, fold))

    return ask(settings, asked)


async def _matching(store: Store, question: str, limit: int) -> list[Pin]:
    arguments = {"query": question, "kinds": ["pins", "dead_ends"], "limit": limit}
    hits = (await _search(store, arguments)).structured["hits"]
    pointers = (pointer for hit in hits for pointer in (hit["pointer"], *hit.get("like", ())))
    numbers = dict.fromkeys(int(pointer[1:]) for pointer in pointers)
    found = [(await store.pin(number)).pin for number in numbers]
    return [pin for pin in found if pin.superseded_by is None]


async def _last_summary(store: Store) -> tuple[str | None, str | None]:
    """Return the last fold's pointer and its summary, as far as there are any."""
    folds = await store.folds(None, 1)
    if not folds:
        return None, None
    number = folds[0].summary
    if number is None:
        return folds[0].pointer, None
    part = await store.artifact_bytes(number, 0, _MOST_SUMMARY_BYTES)
    return folds[0].pointer, part.content.decode("utf-8", "backslashreplace")


def _facts(found: Recall) -> dict[str, Any]:
    lost = found.not_in_summary
    return {
        "pointer": found.pin.pointer,
        "text": found.pin.text,
        "specifics": list(found.pin.specifics),
        "not_in_brief": list(found.not_in_brief),
        "not_in_summary": None if lost is None else list(lost),
    }


def _row(found: Recall) -> tuple[str, ...]:
    total = len(found.pin.specifics)
    lost = found.not_in_summary
    return (
        found.pin.pointer,
        found.pin.text,
        f"{total - len(found.not_in_brief)} of {total}",
        "" if lost is None else f"{total - len(lost)} of {total}",
        ", ".join(found.not_in_brief),
        ", ".join(lost or ()),
    )


def _remark(found: list[Recall], fold: str | None) -> str:
    """Return the sum over all pins that were found."""
    if not found:
        return "No pin that stands answers that."
    total = sum(len(each.pin.specifics) for each in found)
    shown = total - sum(len(each.not_in_brief) for each in found)
    brief = f"The brief shows {shown} of {total} specifics"
    if fold is None:
        return f"{brief}; there is no fold yet."
    lost = [each.not_in_summary for each in found if each.not_in_summary is not None]
    kept = f"shows {total - sum(map(len, lost))}" if lost else "is not known"
    return f"{brief}; the summary of {fold} {kept}."
