"""Sentences that read as a decision, are not pinned, and whose specifics or reason a summary lost.

A guess from words, made to be offered to a reader beside a pointer, never to be acted on by itself. Source: design 3
(Folds and their audit).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pinfold.context.sentences import sentences
from pinfold.context.specifics import Kept, reason, specifics
from pinfold.context.visible import clip
from pinfold.store.results import Entry, Pin
from pinfold.store.words import folded_words, share_of

MOST_OFFERED = 5
SENTENCE_CHARS = 240
_MOST_PER_ENTRY = 2
_SHORTLIST = 200
_LONGEST_SENTENCE = 1_000
_SAME_SHARE = 0.6
_COVERED_SHARE = 0.6
_RELATED_SHARE = 0.25
_KEPT_SHARE = 0.5
_MOST_LOST = 3

_DECIDED = re.compile(
    r"(?<!\w)(?:deci(?:ded|sion)|chose|chosen|settled on|agreed|ruled out|rejected|dead end|go(?:ing)? with|opted for"
    r"|must(?: not|n't)|must never|never|do not use|don['’]t use|not allowed|forbidden|banned"
    r"|entschieden|entscheidung|gewählt|verworfen|ausgeschlossen|darf (?:nicht|nie|kein\w*)|dürfen nicht|niemals|nie"
    r"|décid(?:é|ée|ons)|décision|choisi|retenu|écarté|exclu|jamais|interdit|ne (?:doit|doivent) pas"
    r"|decid(?:ido|imos|ió)|decisión|eleg(?:ido|imos)|descart(?:ado|amos)|nunca|jamás|prohibido|no debe"
    r"|deciso|scelto|решили|решено|решение|выбрали|отказались|никогда|нельзя)(?!\w)"
    r"|决定|決定|决策|选择了|選擇了|排除|禁止|绝不|絕不|不得|不能用|改用|采用|採用|決め|却下|てはいけない|てはならない|絶対に",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"(?<!\w)(?:must|has to|have to|always|instead of|rather than|because|due to|owing to|so that|root cause|prefer"
    r"|weil|muss|müssen|statt|anstatt|anstelle|damit|sodass|wegen|immer"
    r"|parce que|doit|doivent|au lieu de|plutôt que|à cause de|afin d[e']|pour que|puisque|toujours"
    r"|porque|debe|deben|en lugar de|en vez de|debido a|para que|siempre"
    r"|perché|invece di|потому что|долж(?:ен|на|ны)|вместо|из-за|чтобы|всегда)(?!\w)"
    r"|必须|必須|因为|因為|由于|由於|而不是|以便|总是|總是|必ず|ために|代わりに|ではなく|なければならない|理由",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"(?<!\w)(?:maybe|perhaps|might|possibly|vielleicht|peut-être|quizás?|tal vez|может быть)(?!\w)|也许|可能|かもしれ",
    re.IGNORECASE,
)
_NARRATED = re.compile(
    r"\W*(?:(?:ok(?:ay)?|now|next|first|then|so|and|but|great|good|alright|perfect|also)\W+)*"
    r"(?:let me|let['’]s|let us|(?:I['’]ll|I will) now|now I|I(?:['’]m| am)(?: now)? going to|going to"
    r"|I(?:['’]ll|['’]m| will| need to| should| want to| have to| must)? ?(?:now |first |then |also |just )?"
    r"(?:check|look|read|run|see|try|search|open|inspect|verify|start|continue|update|fix|add|write|create|explore"
    r"|examine|investigate|test|find|view|trace|begin|proceed|make sure|review|implement|edit|grep)(?:ing)?"
    r"|ich (?:werde|schaue|prüfe)|lass(?:en Sie)? mich|je vais|laisse[- ]moi|voy a|déjame|сейчас я|давайте)(?!\w)"
    r"|\W*(?:现在)?(?:让我|我来|我将|我会先|現在我)|\W*(?:では、?)?これから",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[?？؟][\"')\]*_`”’」』）]*\s*\Z")
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」")


@dataclass(frozen=True)
class _Candidate:
    """A sentence that reads as a decision; `strength` is that of its marker, `lost` what the summary dropped."""

    entry: Entry
    place: int
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
        return (-score, self.entry.role != "user", -self.place)


class SummaryLines:
    """A summary's words, line by line, to tell whether it still gives a reason."""

    def __init__(self, summary: str) -> None:
        lines = [folded_words(line) for line in summary.splitlines() if line.strip()]
        self._windows = [first | second for first, second in pairwise(lines)] or lines

    def give(self, clause: str) -> bool:
        """Whether one or two neighbouring lines hold at least half of a clause's content words."""
        words = folded_words(clause)
        enough = _KEPT_SHARE * len(words)
        return any(len(words & window) >= enough for window in self._windows)


def lost_decisions(
    entries: Sequence[Entry], summary: str, kept: Kept, pins: Iterable[Pin]
) -> tuple[tuple[str, str], ...]:
    """Return at most five (pointer, sentence) of what users and agent decided, best first.

    `entries` are oldest first, `kept` is the summary made ready. A sentence has at most `SENTENCE_CHARS` characters.
    """
    lines = SummaryLines(summary)
    cover = [_Cover(pin) for pin in pins]
    shortlist = sorted(_candidates(entries, kept), key=lambda each: each.rank)[:_SHORTLIST]
    open_ones = (
        each for each in shortlist if _is_lost(each, lines) and not any(pin.covers(each) for pin in cover)
    )
    return tuple((each.entry.pointer, _cut(each.sentence)) for each in _distinct(open_ones))


def _candidates(entries: Sequence[Entry], kept: Kept) -> Iterator[_Candidate]:
    for place, entry in enumerate(entries):
        for sentence in sentences(entry.text):
            strength = _strength(sentence)
            parts = specifics(sentence) if strength else ()
            if parts:
                lost = tuple(part for part in parts if not kept.holds(part))
                yield _Candidate(entry, place, sentence, strength, lost)


def _strength(sentence: str) -> int:
    """Return how much a sentence reads as a decision: 2 decided, 1 firm, 0 neither, a question, or mere narration."""
    if len(sentence) > _LONGEST_SENTENCE or _ASKED.search(sentence) or _NARRATED.match(sentence):
        return 0
    own = _QUOTED.sub(" ", sentence)
    strength = 2 if _DECIDED.search(own) else 1 if _FIRM.search(own) else 0
    return max(0, strength - 1) if _HEDGED.search(own) else strength


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
        shared = len(candidate.words & self._words) / max(1, len(candidate.words))
        if shared >= _COVERED_SHARE:
            return True
        return (
            shared >= _RELATED_SHARE and bool(candidate.lost) and all(map(self._kept.holds, candidate.lost))
        )


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
