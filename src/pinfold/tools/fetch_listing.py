"""The listings: pins, artifacts, checkpoints, folds, misses; newest first, one line each."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinfold.context.visible import counted, shorten, visible
from pinfold.store import Store
from pinfold.store.results import Artifact, Checkpoint, Fold, Pin
from pinfold.store.search_results import SearchRecord
from pinfold.tools.ask import Ask
from pinfold.tools.fetch_record import fold_line
from pinfold.tools.fit import fitting_async
from pinfold.tools.pointers import Listing, ListingName
from pinfold.tools.render import NOTE, day, fenced, lean, lines
from pinfold.tools.tool import Reply

_PAGE = 50
_TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Row:
    """One thing of a listing: the number behind which the next page begins, its line, its facts."""

    number: int
    line: str
    facts: Mapping[str, Any]


async def listing_reply(ask: Ask, listing: Listing) -> Reply:
    """Return the next page of a listing."""
    rows = await _READ[listing.name](ask.desk.store, ask.at, _PAGE + 1)
    keep = await fitting_async(min(len(rows), _PAGE), lambda size: _both(rows[:size]), ask.room)
    shown = rows[: max(1, keep)]
    if not shown:
        return Reply(
            f"No {listing.name} {'left' if ask.at else 'yet'}.", {"listing": listing.name, "items": []}
        )
    more = len(shown) < len(rows)
    last = shown[-1].number
    facts = lean(
        {
            "listing": listing.name,
            "items": [lean(row.facts) for row in shown],
            "next": ask.next_cursor(last) if more else None,
            "note": NOTE,
        }
    )
    head = f"{listing.name}, newest first: {len(shown)}"
    tail = f"more; next: {ask.next_call(last)}" if more else None
    return Reply(lines([head, fenced(ask.desk.store, _joined(shown)), tail]), facts)


def _joined(rows: Sequence[_Row]) -> str:
    return "\n".join(row.line for row in rows)


def _both(rows: Sequence[_Row]) -> tuple[str, str]:
    return visible(_joined(rows)), json.dumps([lean(row.facts) for row in rows], ensure_ascii=False)


async def _pins(store: Store, before: int | None, limit: int) -> list[_Row]:
    return [_pin(pin) for pin in await store.pins(before, limit)]


def _pin(pin: Pin) -> _Row:
    text = shorten(pin.text, _TEXT_CHARS)
    by = f"P{pin.superseded_by}" if pin.superseded_by else None
    facts = {
        "pointer": pin.pointer,
        "kind": pin.kind.value,
        "at": day(pin.at),
        "text": text,
        "replaced_by": by,
        "session_only": pin.session_only,
        "session": pin.session if pin.session_only else None,
    }
    scope = f", session {pin.session} only" if pin.session_only else ""
    return _Row(
        pin.number,
        f"{pin.pointer} {pin.kind.value}{scope} {day(pin.at)} {f'(superseded by {by}) ' if by else ''}{text}",
        facts,
    )


async def _artifacts(store: Store, before: int | None, limit: int) -> list[_Row]:
    return [_artifact(artifact) for artifact in await store.artifacts(before, limit)]


def _artifact(artifact: Artifact) -> _Row:
    label = shorten(
        artifact.label or artifact.source or artifact.path or artifact.outline.media_type, _TEXT_CHARS
    )
    facts = {
        "pointer": artifact.pointer,
        "at": day(artifact.at),
        "label": label,
        "bytes": artifact.size_bytes,
        "lines": artifact.lines,
        "type": artifact.outline.media_type,
    }
    size = f"{counted(artifact.size_bytes, 'byte')}, {counted(artifact.lines, 'line')}"
    return _Row(artifact.number, f"{artifact.pointer} {day(artifact.at)} {label} ({size})", facts)


async def _checkpoints(store: Store, before: int | None, limit: int) -> list[_Row]:
    return [_checkpoint(checkpoint) for checkpoint in await store.checkpoints(before, limit)]


def _checkpoint(checkpoint: Checkpoint) -> _Row:
    goal = shorten(checkpoint.goal, _TEXT_CHARS)
    pending = len(checkpoint.pending)
    facts = {
        "pointer": checkpoint.pointer,
        "at": day(checkpoint.at),
        "session": checkpoint.session,
        "goal": goal,
        "pending": pending,
    }
    return _Row(
        checkpoint.number,
        f"{checkpoint.pointer} {day(checkpoint.at)} session {checkpoint.session}, {pending} pending: {goal}",
        facts,
    )


async def _folds(store: Store, before: int | None, limit: int) -> list[_Row]:
    return [_fold(fold) for fold in await store.folds(before, limit)]


def _fold(fold: Fold) -> _Row:
    sizes = [fold.tokens_before, fold.tokens_after] if fold.tokens_before is not None else None
    facts = {
        "pointer": fold.pointer,
        "at": day(fold.at),
        "session": fold.session,
        "trigger": fold.trigger,
        "tokens": sizes,
        "lost": sum(map(len, fold.lost.values())),
    }
    return _Row(fold.number, f"{fold.pointer} {fold_line(fold)}", facts)


async def _misses(store: Store, before: int | None, limit: int) -> list[_Row]:
    return [_miss(search) for search in await store.misses(before, limit)]


def _miss(search: SearchRecord) -> _Row:
    """Tell a miss; one without a search of its own is a decision against a dead end."""
    query = shorten(search.query, _TEXT_CHARS)
    pointer = f"S{search.number}" if search.number else None
    facts = {
        "pointer": pointer,
        "at": day(search.at),
        "query": query,
        "missed": search.missed,
        "hits": list(search.hits),
        "answer": search.answer,
        "how": search.how,
        "by_person": search.by_person or None,
    }
    by = ", by a person" if search.by_person else ""
    gave = f"; gave {', '.join(search.hits)}" if search.hits else ""
    answer = f"; answered by {search.answer} ({search.how})" if search.answer else ""
    line = f"{pointer or '-'} {day(search.at)} {query} ({search.missed}{by}{gave}{answer})"
    return _Row(search.seq or 0, line, facts)


_READ: Mapping[ListingName, Callable[[Store, int | None, int], Awaitable[list[_Row]]]] = {
    "pins": _pins,
    "artifacts": _artifacts,
    "checkpoints": _checkpoints,
    "folds": _folds,
    "misses": _misses,
}
