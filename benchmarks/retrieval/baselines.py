"""Plain ways of looking that ours is measured against: shared tags, and FTS5 as it comes."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable

from benchmarks.retrieval.task import Text

_WORD = re.compile(r"\w+")
_TAG = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{3,}")
STOP_WORDS = frozenset(
    """a about all also an and any are as at be been but by can could did do does first for from had has have he her
    him his how i if in into is it its just let look me more my need next no not now of on or our see she should so
    some than that the their them then there these they this to up us want was we were what when where which who why
    will with would you your""".split()
)
"""Small words as other projects drop them, not ours: a baseline must not change with what it is measured against."""


def content_words(text: str) -> set[str]:
    """Return the words of more than two characters that are no stop words."""
    return {word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in STOP_WORDS}


class TagOverlap:
    """Counts shared words of four characters and more; of equals the newest first."""

    name = "tag overlap"

    def hold(self, texts: Iterable[Text]) -> None:
        self._names: list[str] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        for text in texts:
            for tag in _tags(text.text):
                self._places[tag].append(len(self._names))
            self._names.append(text.name)

    def find(self, question: str, limit: int) -> list[str]:
        shared = Counter(place for tag in _tags(question) for place in self._places.get(tag, ()))
        best = sorted(shared.items(), key=lambda found: (-found[1], -found[0]))[:limit]
        return [self._names[place] for place, _ in best]

    def index_bytes(self) -> int:
        return sum(len(tag) + 4 * len(places) for tag, places in self._places.items())

    def close(self) -> None:
        pass


def _tags(text: str) -> set[str]:
    return set(_TAG.findall(text.lower()))


class Fts:
    """FTS5 with a tokenizer of its own and its BM25: any of the words, stop words dropped if asked."""

    def __init__(self, tokenizer: str, *, drop_stop_words: bool, shortest: int = 1) -> None:
        dropped = ", stop words off" if drop_stop_words else ""
        self.name = f"FTS5 {tokenizer.partition(' ')[0]}{dropped}"
        self._tokenizer = tokenizer
        self._dropped = STOP_WORDS if drop_stop_words else frozenset()
        self._shortest = shortest
        self._db: sqlite3.Connection | None = None

    def hold(self, texts: Iterable[Text]) -> None:
        self.close()
        self._names = dict(enumerate(texts))
        self._db = sqlite3.connect(":memory:")
        self._db.execute(f'CREATE VIRTUAL TABLE words USING fts5(text, tokenize="{self._tokenizer}")')
        rows = ((number, text.text) for number, text in self._names.items())
        self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
        self._db.execute("INSERT INTO words (words) VALUES ('optimize')")

    def find(self, question: str, limit: int) -> list[str]:
        wanted = " OR ".join(f'"{word}"' for word in self._words(question))
        if self._db is None or not wanted:
            return []
        query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return [self._names[row[0]].name for row in self._db.execute(query, (wanted, limit))]

    def _words(self, question: str) -> list[str]:
        words = [
            word for word in dict.fromkeys(_WORD.findall(question.lower())) if len(word) >= self._shortest
        ]
        return [word for word in words if word not in self._dropped] or words

    def index_bytes(self) -> int:
        """Return the size of the postings, without the stored text."""
        if self._db is None:
            return 0
        return int(self._db.execute("SELECT sum(length(block)) FROM words_data").fetchone()[0])

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
