"""What stands behind pins, checkpoints, entries, folds and searches, as a short document with its facts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinfold.context.quoting import quoted
from pinfold.context.repository_lines import spot
from pinfold.context.visible import shorten, visible
from pinfold.store import Store
from pinfold.store.results import Checkpoint, Entry, Fold, Pin
from pinfold.store.search_results import SearchRecord
from pinfold.store.values import Pointer, PointerKind
from pinfold.tools.ask import Ask
from pinfold.tools.body import TextBody
from pinfold.tools.fetch_slice import Subject, slice_of
from pinfold.tools.fit import fitting_async
from pinfold.tools.render import NOTE, day, fenced, lean, lines
from pinfold.tools.tool import Reply

_HISTORY_CHARS = 160


@dataclass(frozen=True, slots=True)
class Record:
    """One thing: its first line without the pointer, its stored text as a document, facts, a last line."""

    pointer: str
    head: str
    document: str
    facts: Mapping[str, Any]
    tail: str | None = None

    @property
    def body(self) -> TextBody:
        """The document as readable bytes."""
        return TextBody(self.document)

    @property
    def subject(self) -> Subject:
        """What a slice of the document is called."""
        return Subject(self.pointer, self.head)


async def record_reply(ask: Ask, record: Record) -> Reply:
    """Return the whole record where it fits, else the next page of its document."""
    facts = lean({"pointer": record.pointer, **record.facts, "note": NOTE})
    if ask.is_whole:
        both = (visible(record.document), json.dumps(facts, ensure_ascii=False))
        if await fitting_async(1, lambda _: both, ask.room):
            document = fenced(ask.desk.store, record.document) if record.document else None
            return Reply(lines([f"{record.pointer} {record.head}", document, record.tail]), facts)
    return await slice_of(record.body, ask, record.subject)


async def record_of(store: Store, pointer: Pointer) -> Record:
    """Return what stands behind any pointer but an artifact's. Raises `NotFoundError`."""
    number = pointer.number
    match pointer.kind:
        case PointerKind.PIN:
            return await _pin_record(store, number)
        case PointerKind.CHECKPOINT:
            return _checkpoint_record(await store.checkpoint(number))
        case PointerKind.ENTRY:
            return _entry_record(await store.entry(number))
        case PointerKind.FOLD:
            return fold_record(await store.fold(number))
        case PointerKind.SEARCH:
            return _search_record(await store.search_record(number))
    raise AssertionError(f"{pointer} leads to bytes, not to a record")


async def _pin_record(store: Store, number: int) -> Record:
    """Return a pin with what it replaced, what replaced it, and the folds it went through."""
    found = await store.pin(number)
    pin, folds = found.pin, found.folds
    lost = {fold.pointer: list(fold.lost[number]) for fold in folds if fold.lost.get(number)}
    replaced = [other for other in found.others if other.number < number]
    later = [other for other in found.others if other.number > number]
    document = lines(
        [
            pin.text,
            f"Why: {pin.why}",
            f"Files: {', '.join(pin.files)}" if pin.files else None,
            *_history("Replaced", replaced),
            *_history("Replaced by", later),
            *(f"Lost in the summary of {fold}: {', '.join(parts)}" for fold, parts in lost.items()),
        ]
    )
    facts = {
        "kind": pin.kind.value,
        "at": pin.at,
        "session": pin.session,
        "by": pin.actor,
        "text": pin.text,
        "why": pin.why,
        "files": list(pin.files),
        "session_only": pin.session_only,
        "replaced": _told(replaced),
        "replaced_by": _told(later),
        "folds": [fold.pointer for fold in folds],
        "lost": lost,
    }
    scope = ", that session only" if pin.session_only else ""
    status = f"; superseded by P{pin.superseded_by}" if pin.superseded_by else ""
    through = f"Went through {', '.join(fold.pointer for fold in folds)}." if folds else None
    return Record(
        pin.pointer,
        f"{pin.kind.value}, {_origin(pin.at, pin.session)}{scope}, by {pin.actor}{status}",
        document,
        facts,
        through,
    )


def _history(word: str, pins: Iterable[Pin]) -> list[str]:
    return [f"{word}: {pin.pointer} {shorten(pin.text, _HISTORY_CHARS)}" for pin in pins]


def _told(pins: Iterable[Pin]) -> list[dict[str, str]]:
    return [{"pointer": pin.pointer, "text": shorten(pin.text, _HISTORY_CHARS)} for pin in pins]


def _origin(at: str, session: int) -> str:
    return f"{day(at)}, session {session}"


def _checkpoint_record(checkpoint: Checkpoint) -> Record:
    """Return a checkpoint's state."""
    items: dict[str, str | list[str]] = {
        "goal": checkpoint.goal,
        "done": list(checkpoint.done),
        "pending": list(checkpoint.pending),
        "facts": list(checkpoint.facts),
        "constraints": list(checkpoint.constraints),
        "next_step": checkpoint.next_step,
        "files": list(checkpoint.files),
    }
    at = f", at {spot(checkpoint.branch, checkpoint.head)}" if checkpoint.head else ""
    where = {"head": checkpoint.head, "branch": checkpoint.branch}
    head = f"checkpoint, {_origin(checkpoint.at, checkpoint.session)}{at}"
    document = lines(part for name, item in items.items() for part in _section(name, item))
    origin = {"at": checkpoint.at, "session": checkpoint.session}
    return Record(checkpoint.pointer, head, document, origin | where | items)


def _section(name: str, item: str | list[str]) -> list[str]:
    title = name.replace("_", " ").capitalize()
    if isinstance(item, str):
        return [f"{title}: {item}"] if item else []
    return [f"{title}:", *(f"- {line}" for line in item)] if item else []


def _entry_record(entry: Entry) -> Record:
    """Return a message, tool call or tool result with its neighbours' pointers."""
    neighbours = {
        "before": f"H{entry.before}" if entry.before else None,
        "after": f"H{entry.after}" if entry.after else None,
    }
    what = f"{entry.role} {quoted(entry.tool, 60)}" if entry.tool else entry.role
    beside = ", ".join(f"{word} {pointer}" for word, pointer in neighbours.items() if pointer)
    omitted = entry.omitted and "left out of requests since event {1} ({0})".format(*entry.omitted)
    facts = {
        "role": entry.role,
        "tool": entry.tool,
        "call": entry.call_id,
        "ref": entry.external_id,
        "at": entry.at,
        "session": entry.session,
        "tokens": entry.tokens or None,
        **neighbours,
        "omitted": omitted,
        "text": entry.text,
    }
    return Record(
        entry.pointer,
        f"{what}, {_origin(entry.at, entry.session)}{f', {omitted}' if omitted else ''}",
        entry.text,
        facts,
        f"Neighbours: {beside}" if beside else None,
    )


def fold_record(fold: Fold) -> Record:
    """Return what a compaction took, and what its summary lost."""
    lost = {f"P{number}": list(parts) for number, parts in fold.lost.items()}
    strings: dict[str, list[str]] = {}
    for string, pointer in fold.strings:
        strings.setdefault(pointer, []).append(string)
    summary = f"A{fold.summary}" if fold.summary else None
    document = lines(
        [
            *(f"Lost of {pointer}: {', '.join(parts)}" for pointer, parts in lost.items()),
            *(f"Said before it, not in the summary: {pointer}  {said}" for pointer, said in fold.offered),
            *(f"{pointer}: {', '.join(parts)}" for pointer, parts in strings.items()),
        ]
    )
    facts = {
        "at": fold.at,
        "session": fold.session,
        "trigger": fold.trigger,
        "tokens": [fold.tokens_before, fold.tokens_after] if fold.tokens_before else None,
        "messages": fold.messages,
        "summary": summary,
        "present": {f"P{number}": count for number, count in fold.present.items()},
        "lost": lost,
        "offered": [list(pair) for pair in fold.offered],
        "strings": strings,
    }
    return Record(
        fold.pointer, fold_line(fold), document, facts, f"Its summary: {summary}" if summary else None
    )


def fold_line(fold: Fold) -> str:
    """Return a fold in a few words, without its pointer."""
    before, after = fold.tokens_before, fold.tokens_after
    sizes = f", {before:,} -> {after:,} tokens" if before is not None and after is not None else ""
    lost = sum(map(len, fold.lost.values()))
    origin = _origin(fold.at, fold.session)
    return f"{quoted(fold.trigger, 20)} compaction, {origin}{sizes}, {lost} pinned specifics lost"


def _search_record(search: SearchRecord) -> Record:
    """Return an earlier search."""
    hits: Sequence[str] = search.hits
    facts = {
        "at": search.at,
        "session": search.session or None,
        "by_person": search.by_person or None,
        "query": search.query,
        "hits": list(hits),
        "missed": search.missed,
        "answer": search.answer,
        "how": search.how,
    }
    by = " by a person" if search.by_person else ""
    origin = _origin(search.at, search.session) if search.session else day(search.at)
    gave = f"Gave {', '.join(hits)}." if hits else "Gave nothing."
    answer = f" {search.answer} answered it ({search.how})." if search.answer else ""
    missed = f", missed: {quoted(search.missed, 120)}" if search.missed else ""
    return Record(
        f"S{search.number}",
        f"search{by}, {origin}{missed}",
        search.query,
        facts,
        gave + answer,
    )
