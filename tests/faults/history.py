"""What clients did and saw, noted as it happened, and whether one log explains it all: the checks C1 to C10.

A worker notes each call before it is made and when its answer is there, by the one monotonic clock of the machine.
A key belongs to one thing: calls that repeat it are attempts at the same event. The log's order decides, so nothing
is searched for: each check is one pass over sorted notes.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain

_NEVER = 2**63


class Outcome(StrEnum):
    """What a caller learned of its write: it is stored, nothing happened, or neither."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "info"


@dataclass(frozen=True, slots=True)
class Write:
    """One attempt at the event of a key; `receipt` is what an acknowledged one was given."""

    worker: str
    kind: str
    key: str
    content: str
    invoked: int
    ended: int = _NEVER
    outcome: Outcome = Outcome.UNKNOWN
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """One look at everything of a kind: the keys that were there, with their content."""

    worker: str
    kind: str
    invoked: int
    seen: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stored:
    """An event of the log in the end; `digest` is its chain digest in hex."""

    seq: int
    kind: str
    key: str
    content: str
    digest: str


@dataclass
class Diary:
    """One worker's notes, in the order in which it did things."""

    worker: str
    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)

    def invoke(self, kind: str, key: str, content: str) -> int:
        """Note that a write is about to be asked for; return the note's number."""
        self.writes.append(Write(self.worker, kind, key, content, time.monotonic_ns()))
        return len(self.writes) - 1

    def ok(self, note: int, receipt: str) -> None:
        """Note that the write was acknowledged."""
        self._end(note, Outcome.OK, receipt)

    def fail(self, note: int) -> None:
        """Note that nothing happened, as the answer said."""
        self._end(note, Outcome.FAIL, "")

    def _end(self, note: int, outcome: Outcome, receipt: str) -> None:
        ended = time.monotonic_ns()
        self.writes[note] = replace(self.writes[note], ended=ended, outcome=outcome, receipt=receipt)

    def saw(self, kind: str, invoked: int, seen: Mapping[str, str]) -> None:
        """Note what was there when it was looked for from `invoked` on."""
        self.reads.append(Read(self.worker, kind, invoked, dict(seen)))


def contradictions(diaries: Iterable[Diary], log: Sequence[Stored]) -> list[str]:
    """Return everything that the log cannot explain, each with the name of the check that found it."""
    kept = list(diaries)
    writes = [write for diary in kept for write in diary.writes]
    reads = [read for diary in kept for read in diary.reads]
    order = sorted(log, key=lambda event: event.seq)
    found = chain(
        _outcomes(writes, {event.key for event in log}),
        _keys(log),
        _real_time(writes, order),
        _views(reads, order),
        _own(reads, writes, order),
        _contents(writes, reads, order),
    )
    return sorted(set(found))


def _outcomes(writes: Iterable[Write], stored: set[str]) -> Iterator[str]:
    outcomes: dict[str, set[Outcome]] = defaultdict(set)
    for write in writes:
        outcomes[write.key].add(write.outcome)
    for key, said in outcomes.items():
        if Outcome.OK in said and key not in stored:
            yield f"C1 {key} was acknowledged and is not stored"
        if said == {Outcome.FAIL} and key in stored:
            yield f"C3 {key} was refused each time and is stored"
    yield from (f"C2 {key} is stored and nobody asked for it" for key in stored - outcomes.keys())


def _keys(log: Iterable[Stored]) -> Iterator[str]:
    times = Counter(event.key for event in log)
    yield from (f"C4 {key} is stored {number} times" for key, number in times.items() if number > 1)


def _real_time(writes: Iterable[Write], order: Sequence[Stored]) -> Iterator[str]:
    """What began after something was acknowledged lies behind it: look from the log's end for the first answer."""
    begun: dict[str, int] = {}
    known: dict[str, int] = {}
    for write in writes:
        begun[write.key] = min(write.invoked, begun.get(write.key, _NEVER))
        if write.outcome is Outcome.OK:
            known[write.key] = min(write.ended, known.get(write.key, _NEVER))
    earliest = _NEVER
    for event in reversed(order):
        if earliest < begun.get(event.key, 0):
            yield f"C5 {event.key} began when a later one was acknowledged already"
        earliest = min(earliest, known.get(event.key, _NEVER))


def _views(reads: Iterable[Read], order: Sequence[Stored]) -> Iterator[str]:
    """Reads of one worker only grow, and each is the log up to some seq without a hole."""
    places = _places(order)
    reached: dict[tuple[str, str], int] = {}
    for read in reads:
        place = places[read.kind]
        newest = max((place.get(key, 0) for key in read.seen), default=0)
        who = read.worker, read.kind
        if newest < reached.get(who, 0):
            yield f"C6 {read.worker} saw less than before"
        reached[who] = newest
        if newest != len(read.seen):
            yield f"C8 {read.worker} saw {len(read.seen)} of the first {newest}"


def _places(order: Iterable[Stored]) -> dict[str, dict[str, int]]:
    """Return which of its kind each event is, counted from 1."""
    places: dict[str, dict[str, int]] = defaultdict(dict)
    for event in order:
        places[event.kind].setdefault(event.key, len(places[event.kind]) + 1)
    return places


def _own(reads: Iterable[Read], writes: Iterable[Write], order: Sequence[Stored]) -> Iterator[str]:
    """What was acknowledged to anybody before a read began is in it."""
    places = _places(order)
    known: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for write in sorted(writes, key=lambda write: write.ended):
        if write.outcome is Outcome.OK:
            answers = known[write.kind]
            newest = max(places[write.kind].get(write.key, 0), answers[-1][1] if answers else 0)
            answers.append((write.ended, newest))
    for read in reads:
        before = bisect_right(known[read.kind], (read.invoked, -1))
        due = known[read.kind][before - 1][1] if before else 0
        if due > max((places[read.kind].get(key, 0) for key in read.seen), default=0):
            yield f"C7 {read.worker} did not see what had been acknowledged"


def _contents(writes: Iterable[Write], reads: Iterable[Read], order: Iterable[Stored]) -> Iterator[str]:
    log = {event.key: event for event in order}
    given = {write.key: write.content for write in writes}
    for key, event in log.items():
        if event.content != given.get(key, event.content):
            yield f"C9 {key} is stored with another content"
    for read in reads:
        if any(given.get(key, content) != content for key, content in read.seen.items()):
            yield f"C9 {read.worker} saw another content"
    for write in writes:
        found = log.get(write.key)
        if found and write.receipt not in ("", f"{found.seq}:{found.digest[:12]}"):
            yield f"C10 {write.key} was given a receipt that does not hold"
