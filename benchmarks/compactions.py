"""The compactions in a folder of transcripts: what each folded, its summary, and what was said and done after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.items import Compacted, Item, Spoken
from pinfold.server.transcripts.lines import Lines
from pinfold.store.results import Entry, FoldedPart, FormerSummary


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction: `part` is what a store of this transcript would fold, `after` reaches to the next one."""

    name: str
    part: FoldedPart
    summary: str
    after: tuple[Entry, ...]


def compactions(folder: Path) -> list[Compaction]:
    """Return each compaction once: of a session that was kept several times, from where it went on longest.

    One without a summary, or without anything before or after it, has nothing to measure.
    """
    longest: dict[str, Compaction] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for found in _in(path):
            known = longest.get(found.name)
            if known is None or _extent(known) < _extent(found):
                longest[found.name] = found
    return [each for each in longest.values() if each.summary and all(_extent(each))]


def _extent(compaction: Compaction) -> tuple[int, int]:
    return len(compaction.part.entries), len(compaction.after)


def _in(path: Path) -> Iterator[Compaction]:
    found = found_at(path)
    if found is None:
        return
    form = found.format()
    items = [item for line in Lines(path) for item in form.items(line.content)]
    folds = [at for at, item in enumerate(items) if isinstance(item, Compacted)]
    former: FormerSummary | None = None
    for before, at, after in zip([-1, *folds], folds, [*folds[1:], len(items)], strict=False):
        fold = items[at]
        assert isinstance(fold, Compacted)
        part = FoldedPart(1, before + 1, _entries(items, before + 1, at), (), former=former)
        yield Compaction(fold.external_id, part, fold.summary, _entries(items, at + 1, after))
        former = FormerSummary(at + 1, "A1", fold.summary)


def _entries(items: Sequence[Item], start: int, stop: int) -> tuple[Entry, ...]:
    return tuple(
        Entry(seq, item.at or "", 1, item.role, item.text, item.tool, item.call_id, item.external_id, 0, True)
        for seq, item in enumerate(items[start:stop], start + 1)
        if isinstance(item, Spoken) and item.agent is None
    )


_ARGUMENT = re.compile(r'(?m)^\w+: |(?<!\\)"\w+":')


def text_of(entries: Iterable[Entry]) -> str:
    """Return what entries say, one below the other, without the names of a tool's arguments."""
    return "\n".join(
        _ARGUMENT.sub("", entry.text) if entry.role == "tool_call" else entry.text for entry in entries
    )
