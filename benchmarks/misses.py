"""What learning from misses adds and spoils: `python -m benchmarks.misses [--entries N] [--questions N] [--json]`.

Entries are made prose; a question has a few words of one entry, its right answer, and more that stand elsewhere. Every
other question teaches: where its answer is not among five, a search for the answer's own beginning says that it missed,
and the answer is opened. Then all is asked again, as it was and without a fourth of its words, and the questions
that taught nothing as well. `wrong` teaches each question an entry drawn at random: the worst that can be learned.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.text import Prose
from pinfold.store import Store
from pinfold.store.commands import Message, SearchHistory
from pinfold.store.search_results import SearchPage
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller, Pointer, PointerKind

LIMIT = 5
SEED = 20_260_314
ENTRY_WORDS, SHARED_WORDS, OTHER_WORDS = 40, 2, 6

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the number of the entry that is right."""

    text: str
    right: int


@dataclass(frozen=True, slots=True)
class Case:
    """A history, and the questions about it."""

    entries: tuple[str, ...]
    questions: tuple[Question, ...]


def made_case(entries: int, questions: int) -> Case:
    """Return a history and questions that share few words with their answers; the same sizes give the same case."""
    prose, draw = Prose(SEED), random.Random(SEED)
    texts = tuple(prose.words(ENTRY_WORDS) for _ in range(entries))
    asked = []
    for right in draw.sample(range(entries), questions):
        words = draw.sample(texts[right].split(), SHARED_WORDS) + draw.choices(
            prose.vocabulary, k=OTHER_WORDS
        )
        asked.append(Question(" ".join(draw.sample(words, len(words))), right))
    return Case(texts, tuple(asked))


class Asker:
    """An agent that asks, says when a search missed, and opens what it finds."""

    def __init__(self, store: Store, case: Case) -> None:
        self._store = store
        self._entries = case.entries
        self._caller = Caller("benchmark", "asker")

    async def hold(self) -> None:
        """Append the history."""
        messages = [Message("assistant", text, external_id=f"{n}") for n, text in enumerate(self._entries)]
        await self._store.append_messages(self._caller, messages)

    async def ranks(self, questions: Iterable[Question]) -> list[int]:
        """Return the place (from 1) of each right entry among `LIMIT`, or 0."""
        return [_rank(await self._find(each.text), each.right) for each in questions]

    async def miss(self, question: str, answer: int) -> None:
        """Search in vain, search for the answer's beginning, open the answer."""
        missed = await self._find(question)
        found = await self._find(" ".join(self._entries[answer].split()[:8]), missed.pointer)
        for hit in found.hits:
            if hit.ref == f"{answer}":
                await self._store.note_opened(self._caller, _pointer(hit.pointer))

    async def _find(self, text: str, missed: str | None = None) -> SearchPage:
        flag = _pointer(missed) if missed else None
        return await self._store.search_history(SearchHistory(self._caller, text, limit=LIMIT, missed=flag))


def _rank(page: SearchPage, right: int) -> int:
    return next((place for place, hit in enumerate(page.hits, 1) if hit.ref == f"{right}"), 0)


def _pointer(text: str) -> Pointer:
    return Pointer(PointerKind(text[0]), int(text[1:]))


def _roughly(question: Question, draw: random.Random) -> Question:
    words = question.text.split()
    kept = sorted(draw.sample(range(len(words)), len(words) - len(words) // 4))
    return Question(" ".join(words[place] for place in kept), question.right)


async def measure(case: Case, folder: Path, *, wrong: bool) -> dict[str, Figures]:
    """Return hit@5 and MRR before and after learning: of what was taught, of that asked roughly, and of the others."""
    store = await open_store(folder, "benchmark")
    try:
        asker = Asker(store, case)
        await asker.hold()
        return await _measure(asker, case, wrong=wrong)
    finally:
        await store.close()


async def _measure(asker: Asker, case: Case, *, wrong: bool) -> dict[str, Figures]:
    draw = random.Random(SEED)
    taught, others = case.questions[::2], case.questions[1::2]
    if not wrong:
        ranks = await asker.ranks(taught)
        taught = tuple(each for each, rank in zip(taught, ranks, strict=True) if not rank)
    asked = {"taught": taught, "roughly": tuple(_roughly(each, draw) for each in taught), "others": others}
    before = {name: await asker.ranks(questions) for name, questions in asked.items()}
    for each in taught:
        await asker.miss(each.text, draw.randrange(len(case.entries)) if wrong else each.right)
    after = {name: await asker.ranks(questions) for name, questions in asked.items()}
    return {name: figures(before[name], after[name]) for name in asked}


def figures(before: Sequence[int], after: Sequence[int]) -> Figures:
    """Return what places among five came to: percentages, and how many answers were gained, lost and lowered."""
    pairs = list(zip(before, after, strict=True))
    return {
        "questions": len(pairs),
        "hit@5 before": _mean(before, bool),
        "hit@5 after": _mean(after, bool),
        "MRR before": _mean(before, lambda rank: 1 / rank if rank else 0),
        "MRR after": _mean(after, lambda rank: 1 / rank if rank else 0),
        "gained": sum(new > 0 and not old for old, new in pairs),
        "lost": sum(old > 0 and not new for old, new in pairs),
        "lower": sum(0 < old < new for old, new in pairs),
    }


def _mean(ranks: Sequence[int], worth: Callable[[int], float]) -> float:
    return round(100 * sum(map(worth, ranks)) / max(1, len(ranks)), 1)


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.misses")
    parser.add_argument("--entries", type=int, default=5_000)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    case = made_case(asked.entries, asked.questions)
    found: dict[str, dict[str, Figures]] = {}
    for name in ("right", "wrong"):
        with tempfile.TemporaryDirectory(prefix="pinfold-misses-") as folder:
            found[name] = asyncio.run(measure(case, Path(folder), wrong=name == "wrong"))
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for name, groups in found.items():
        for group, values in groups.items():
            told = ", ".join(f"{what} {value:g}" for what, value in values.items())
            print(f"{name} answers, {group}: {told}")


if __name__ == "__main__":
    main()
