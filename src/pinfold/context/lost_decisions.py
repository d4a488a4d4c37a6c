"""Sentences that read as a decision, are not pinned, and whose specifics or reason a summary lost.

A guess from words, made to be offered to a reader beside a pointer, never to be acted on by itself. Source: design 3
(Folds and their audit).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pinfold.context.markers import strength_of
from pinfold.context.sentences import sentences
from pinfold.context.specifics import Kept, reason, specifics
from pinfold.context.visible import clip
from pinfold.store.results import Entry, FormerSummary, Pin
from pinfold.store.words import STOP_WORDS, folded_words, share_of

MOST_OFFERED = 5
SENTENCE_CHARS = 240
_MOST_PER_ENTRY = 2
_SHORTLIST = 200
_MOST_CHARS = 1_000_000
_SAME_SHARE = 0.6
_COVERED_SHARE = 0.6
_RELATED_SHARE = 0.25
_KEPT_SHARE = 0.5
_MOST_LOST = 3


@dataclass(frozen=True)
class _Candidate:
    """A sentence that reads as a decision; `strength` is that of its marker, `lost` what the summary dropped."""

    entry: Entry | FormerSummary
    sentence: str
    strength: int
    lost: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        return folded_words(self.sentence)

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Sort the strongest first, then the user's, then the newest."""
        score = 4 * self.strength + 2 * min(len(self.lost), _MOST_LOST) + (reason(self.sentence) is not None)
        return (-score, self.entry.role != "user", -self.entry.seq)


class SummaryLines:
    """A summary's words, line by line, to tell whether it still gives a reason."""

    def __init__(self, summary: str) -> None:
        lines = [folded_words(line) for line in summary.splitlines() if line.strip()]
        self._windows = [first | second for first, second in pairwise(lines)] or lines

    def give(self, clause: str) -> bool:
        """Whether one or two neighbouring lines hold at least half of a clause's content words."""
        words = folded_words(clause) - STOP_WORDS  # of a clause of nothing else, there is nothing to be held
        enough = _KEPT_SHARE * len(words)
        return any(len(words & window) >= enough for window in self._windows)


def lost_decisions(
    entries: Sequence[Entry | FormerSummary], summary: str, kept: Kept, pins: Iterable[Pin]
) -> tuple[tuple[str, str], ...]:
    """Return at most five (pointer, sentence) of what users and agent decided, best first.

    `entries` are oldest first (the newest million characters of them are read), `kept` is the summary made ready. A
    sentence has at most `SENTENCE_CHARS` characters.
    """
    lines = SummaryLines(summary)
    cover = [_Cover(pin) for pin in pins]
    shortlist = sorted(_candidates(entries, kept), key=lambda each: each.rank)[:_SHORTLIST]
    open_ones = (
        each for each in shortlist if _is_lost(each, lines) and not any(pin.covers(each) for pin in cover)
    )
    return tuple((each.entry.pointer, _cut(each.sentence)) for each in _distinct(open_ones))


def _candidates(entries: Sequence[Entry | FormerSummary], kept: Kept) -> Iterator[_Candidate]:
    room = _MOST_CHARS
    for entry in reversed(entries):
        for sentence in sentences(entry.text[:room]):
            strength = strength_of(sentence)
            parts = specifics(sentence) if strength else ()
            if parts:
                yield _Candidate(
                    entry, sentence, strength, tuple(each for each in parts if not kept.holds(each))
                )
        room -= len(entry.text)
        if room <= 0:
            break


def _is_lost(candidate: _Candidate, lines: SummaryLines) -> bool:
    """Whether the summary dropped specifics of it, or the reason that it gives."""
    clause = reason(candidate.sentence)
    return bool(candidate.lost) or (clause is not None and not lines.give(clause))


class _Cover:
    """What a live pin already keeps."""

    def __init__(self, pin: Pin) -> None:
        text = f"{pin.text}\n{pin.why}"
        self._words = folded_words(text)
        self._kept = Kept(text)

    def covers(self, candidate: _Candidate) -> bool:
        """Whether it says nearly the same, or speaks of the same thing and holds all that was lost."""
        if self._share(candidate.words) >= _COVERED_SHARE:
            return True
        subject = candidate.words - folded_words(" ".join(candidate.lost))
        holds_all = bool(candidate.lost) and all(map(self._kept.holds, candidate.lost))
        return holds_all and self._share(subject) >= _RELATED_SHARE

    def _share(self, words: frozenset[str]) -> float:
        return len(words & self._words) / len(words) if words else 1.0


def _distinct(ranked: Iterable[_Candidate]) -> list[_Candidate]:
    """Return the best that do not repeat each other, no more than two of one message."""
    chosen: list[_Candidate] = []
    for each in ranked:
        of_same = sum(1 for other in chosen if other.entry.seq == each.entry.seq)
        if of_same < _MOST_PER_ENTRY and not any(_repeats(each, other) for other in chosen):
            chosen.append(each)
        if len(chosen) == MOST_OFFERED:
            break
    return chosen


def _repeats(one: _Candidate, other: _Candidate) -> bool:
    is_part = bool(one.lost) and set(one.lost) <= set(other.lost)
    return share_of(one.words, other.words) >= (_SAME_SHARE / 2 if is_part else _SAME_SHARE)


def _cut(sentence: str) -> str:
    """Return a sentence of at most `SENTENCE_CHARS` characters, cut between words where it has any."""
    if len(sentence) <= SENTENCE_CHARS:
        return sentence
    part = clip(sentence, SENTENCE_CHARS - 1)
    whole, _, rest = part.rpartition(" ")
    return (whole if whole and len(rest) < SENTENCE_CHARS // 3 else part).rstrip(" ,;:") + "…"
