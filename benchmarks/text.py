"""Text like that of real work: made words by Zipf's law, rare words that few entries share, logs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from functools import cache

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl")
_NUCLEI = ("a", "e", "i", "o", "u", "ai", "ou")
_CODAS = ("", "", "n", "r", "s", "l", "t")
_RARE = tuple(onset + nucleus for onset in "bdfgklmnprstvz" for nucleus in "aeio")
VOCABULARY_WORDS = 50_000
ENTRY_WORDS = 40
ENTRIES_PER_RARE_WORD = 10
COMMON_WORDS = 20


class Prose:
    """An endless source of text; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.vocabulary = _vocabulary()
        self._weights = _weights()

    def words(self, count: int) -> str:
        """Return `count` words; the most common one is about every twelfth."""
        return " ".join(self._chance.choices(self.vocabulary, cum_weights=self._weights, k=count))

    def entry(self, number: int, entries: int) -> str:
        """Return entry `number` of `entries`: about 400 characters with two rare words and a path."""
        first, second = rare_words(number, entries)
        place = f"src/{self.words(1)}/{self.words(1)}_{number % 997}.py:{number % 400 + 1}"
        return f"{self.words(ENTRY_WORDS // 2)} {first} {second} in {place}: {self.words(ENTRY_WORDS // 2)}"

    def common_query(self) -> str:
        """Return two different words of the most common ones."""
        return " ".join(self._chance.sample(self.vocabulary[:COMMON_WORDS], 2))

    def rare_query(self, entries: int) -> str:
        """Return the two rare words of one entry of a history of `entries`."""
        return " ".join(rare_words(self._chance.randrange(entries), entries))


@cache
def _vocabulary() -> tuple[str, ...]:
    chance = random.Random(0)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY_WORDS:
        syllables = chance.choice((1, 2, 2, 3)) if len(found) < COMMON_WORDS else chance.choice((2, 3, 3, 4))
        word = "".join(
            chance.choice(_ONSETS) + chance.choice(_NUCLEI) + chance.choice(_CODAS) for _ in range(syllables)
        )
        if len(word) > 2:
            found[word] = None
    return tuple(found)


@cache
def _weights() -> list[float]:
    return list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY_WORDS + 1)))


def rare_words(number: int, entries: int) -> tuple[str, str]:
    """Return the two words that entry `number` shares with few others, however long the history is."""
    pool = max(2, entries * 2 // ENTRIES_PER_RARE_WORD)
    return _rare_word(number % pool), _rare_word((number * 7 + 3) % pool)


def _rare_word(number: int) -> str:
    """Spell a number; the spelling begins as no word of the vocabulary does."""
    word = "qu"
    while True:
        number, digit = divmod(number, len(_RARE))
        word += _RARE[digit]
        if number == 0:
            return word + "x"


def log_blocks(size_bytes: int, seed: int) -> Iterator[bytes]:
    """Yield a log of exactly `size_bytes`: times, levels, request ids, words, an error in about 400 lines."""
    chance, prose = random.Random(seed), Prose(seed)
    bodies = [_log_body(chance, prose) for _ in range(5_000)]
    left = size_bytes
    for second in itertools.count():
        stamp = f"2026-03-14T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        block = "".join(f"{stamp}.{at:04d}Z run-{seed} {body}\n" for at, body in enumerate(bodies)).encode()
        yield block[:left]
        left -= len(block)
        if left <= 0:
            return


def _log_body(chance: random.Random, prose: Prose) -> str:
    level = "ERROR" if chance.random() < 1 / 400 else chance.choice(("INFO", "INFO", "DEBUG"))
    request = f"worker-{chance.randrange(16)} req={chance.getrandbits(48):012x}"
    return f"{level} {request} {prose.words(8)} took {chance.randrange(900)} ms"


def one_line_blocks(size_bytes: int, seed: int) -> Iterator[bytes]:
    """Yield one line of exactly `size_bytes` without a line end."""
    part = Prose(seed).words(50_000).encode()
    left = size_bytes
    while left > 0:
        yield part[:left]
        left -= len(part)
