"""The history checker, checked itself: a sound history passes, and each kind of bad one is found by its own check."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from tests.faults.history import Diary, Outcome, Read, Stored, Write, contradictions


@dataclass
class Past:
    """A history that a test spoils: two workers write a, b, c in turn, and look at what is there."""

    one: Diary = field(default_factory=lambda: Diary("one"))
    two: Diary = field(default_factory=lambda: Diary("two"))
    log: list[Stored] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.one.writes = [_ok("one", "a", 10), _ok("one", "c", 50)]
        self.two.writes = [_ok("two", "b", 30)]
        self.one.reads = [_saw("one", 25, "a"), _saw("one", 70, "abc")]
        self.two.reads = [_saw("two", 45, "ab"), _saw("two", 46, "ab")]
        self.log = [Stored(seq, "pin", key, f"text {key}", f"{seq:064x}") for seq, key in enumerate("abc", 1)]

    def check(self) -> list[str]:
        return contradictions([self.one, self.two], self.log)


def _ok(worker: str, key: str, at: int) -> Write:
    seq = "abc".index(key) + 1
    return Write(worker, "pin", key, f"text {key}", at, at + 10, Outcome.OK, f"{seq}:{seq:064x}"[:14])


def _saw(worker: str, at: int, keys: str) -> Read:
    return Read(worker, "pin", at, {key: f"text {key}" for key in keys})


def _lose(past: Past) -> None:
    del past.log[2]
    past.one.reads.pop()


def _make_up(past: Past) -> None:
    past.log.append(Stored(4, "pin", "x", "text x", "4"))


def _refuse(past: Past) -> None:
    past.two.writes[0] = replace(past.two.writes[0], outcome=Outcome.FAIL, receipt="")


def _double(past: Past) -> None:
    past.log.append(replace(past.log[0], seq=4))


def _swap(past: Past) -> None:
    first, second, third = past.log
    past.log = [
        replace(second, seq=1, digest=first.digest),
        replace(first, seq=2, digest=second.digest),
        third,
    ]
    past.one.reads, past.two.reads = [], []
    past.one.writes[0] = replace(past.one.writes[0], receipt="")
    past.two.writes[0] = replace(past.two.writes[0], receipt="")


def _go_back(past: Past) -> None:
    past.two.reads = [_saw("two", 45, "ab"), _saw("two", 46, "a")]


def _overlook(past: Past) -> None:
    past.one.reads = [_saw("one", 70, "ab")]


def _see_a_hole(past: Past) -> None:
    past.one.reads = [_saw("one", 70, "ac")]


def _see_what_never_was(past: Past) -> None:
    past.one.reads = [replace(_saw("one", 70, "abc"), seen=dict.fromkeys("abcx", "text"))]


def _change(past: Past) -> None:
    past.log[1] = replace(past.log[1], content="text of another")


def _change_for_a_reader(past: Past) -> None:
    past.two.reads[0] = replace(past.two.reads[0], seen={"a": "text a", "b": "text of another"})


def _forge(past: Past) -> None:
    past.one.writes[1] = replace(past.one.writes[1], receipt="3:ffffffffffff")


BAD: dict[str, tuple[str, Callable[[Past], None]]] = {
    "an acknowledged write is lost": ("C1", _lose),
    "nobody asked for it": ("C2", _make_up),
    "a refused write is there": ("C3", _refuse),
    "a retry made a second one": ("C4", _double),
    "the order is another than that of the answers": ("C5", _swap),
    "a reader goes back in time": ("C6", _go_back),
    "an acknowledged write is not seen": ("C7", _overlook),
    "a read has a hole": ("C8", _see_a_hole),
    "a read has what is nowhere": ("C8", _see_what_never_was),
    "the content is another": ("C9", _change),
    "a reader is given another content": ("C9", _change_for_a_reader),
    "a receipt does not hold": ("C10", _forge),
}


def test_a_sound_history_has_no_contradiction() -> None:
    assert Past().check() == []


def test_a_write_without_an_answer_may_be_there_or_not() -> None:
    past = Past()
    past.one.writes[1] = Write("one", "pin", "c", "text c", 50)
    assert past.check() == []
    _lose(past)
    assert past.check() == []


@pytest.mark.parametrize("kind", BAD)
def test_each_kind_of_bad_history_is_found_by_its_check(kind: str) -> None:
    check, spoil = BAD[kind]
    past = Past()
    spoil(past)
    assert check in {each.partition(" ")[0] for each in past.check()}


def test_a_worker_notes_what_it_does_in_the_order_of_the_clock() -> None:
    diary = Diary("one")
    first = diary.invoke("pin", "a", "text a")
    diary.ok(first, "1:000000000000")
    diary.fail(diary.invoke("pin", "b", "text b"))
    diary.invoke("pin", "c", "text c")
    diary.saw("pin", time.monotonic_ns(), {"a": "text a"})
    assert [write.outcome for write in diary.writes] == [Outcome.OK, Outcome.FAIL, Outcome.UNKNOWN]
    assert (
        diary.writes[0].invoked <= diary.writes[0].ended <= diary.writes[1].invoked <= diary.reads[0].invoked
    )


OPERATIONS = 200_000


@pytest.mark.full
def test_many_operations_are_checked_in_seconds() -> None:
    seed = random.SystemRandom().randrange(10**6)
    draw = random.Random(seed)
    diaries = [Diary(f"w{n}") for n in range(16)]
    log: list[Stored] = []
    for seq in range(1, OPERATIONS + 1):
        key, digest = f"k{seq}", f"{seq:012x}"
        write = Write("w", "pin", key, key, 10 * seq, 10 * seq + 8, Outcome.OK, f"{seq}:{digest}")
        draw.choice(diaries).writes.append(write)
        log.append(Stored(seq, "pin", key, key, digest))
    begun = time.monotonic()
    assert contradictions(diaries, log) == []
    took = time.monotonic() - begun
    print(f"seed {seed}: {OPERATIONS:,} operations in {took:.1f} s")
    assert took < 15
