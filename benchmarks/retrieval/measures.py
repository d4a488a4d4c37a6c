"""How well a way of looking did: shares of questions, and how long an answer took."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.retrieval.task import Case, Half, Searcher, half_of

DEPTH = 25
_GROUPED_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """One question as it was answered: what came, what is right, and how long it took."""

    found: tuple[str, ...]
    right: frozenset[str]
    seconds: float

    def recall(self, depth: int) -> float:
        """Return the share of what is right among the first `depth`."""
        return len(self.right.intersection(self.found[:depth])) / len(self.right)

    @property
    def reciprocal_rank(self) -> float:
        """One over the place of the first right one among the first `DEPTH`."""
        return next((1 / place for place, name in enumerate(self.found, 1) if name in self.right), 0.0)


@dataclass(frozen=True, slots=True)
class Score:
    """Shares in percent, latencies in milliseconds, `width` the half of a 95 % interval of `hit_5`."""

    task: str
    searcher: str
    questions: int
    hit_5: float
    width: float
    recall_5: float
    recall_10: float
    mrr: float
    p50_ms: float
    p95_ms: float
    index_bytes: int


def answers(searcher: Searcher, cases: Iterable[Case], half: Half | None) -> tuple[list[Answer], int]:
    """Ask the questions of one half, or all; return the answers and the size of the largest index."""
    found: list[Answer] = []
    index_bytes = 0
    for case in cases:
        searcher.hold(case.texts)
        index_bytes += searcher.index_bytes()
        for question in case.questions:
            if half is None or half_of(question) == half:
                found.append(_answer(searcher, case, question.text, question.right))
    return found, index_bytes


def _answer(searcher: Searcher, case: Case, question: str, right: frozenset[str]) -> Answer:
    depth = _GROUPED_DEPTH if case.group_of else DEPTH
    started = time.perf_counter()
    names = searcher.find(question, depth)
    seconds = time.perf_counter() - started
    grouped = dict.fromkeys(case.group_of.get(name, name) for name in names)
    return Answer(tuple(grouped)[:DEPTH], right, seconds)


def score(task: str, searcher: str, given: Sequence[Answer], index_bytes: int) -> Score:
    """Summarize at least one answer."""
    hit = _mean([float(answer.recall(5) > 0) for answer in given])
    seconds = sorted(answer.seconds for answer in given)
    return Score(
        task,
        searcher,
        len(given),
        100 * hit,
        100 * 1.96 * (hit * (1 - hit) / len(given)) ** 0.5,
        100 * _mean([answer.recall(5) for answer in given]),
        100 * _mean([answer.recall(10) for answer in given]),
        100 * _mean([answer.reciprocal_rank for answer in given]),
        1_000 * seconds[len(seconds) // 2],
        1_000 * seconds[len(seconds) * 95 // 100],
        index_bytes,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
