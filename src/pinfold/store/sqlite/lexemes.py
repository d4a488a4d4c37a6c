"""The words of a text as FTS5 cuts, folds and stems them, for a backend that keeps them itself."""

from __future__ import annotations

import re
import sqlite3
from hashlib import sha256

from pinfold.store import words
from pinfold.store.sqlite.schema import statements

_ASCII_WORD = re.compile("[a-z0-9]+")
_LONG = 200
_REMEMBERED = 1 << 15


class Lexer:
    """FTS5's own tokenizer, as the schema sets it, asked once for each new word; for one thread at a time."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute(next(each for each in statements() if "CREATE VIRTUAL TABLE words" in each))
        self._db.execute("CREATE VIRTUAL TABLE seen USING fts5vocab (words, instance)")
        self._known: dict[str, tuple[str, ...]] = {}

    def of_text(self, text: str) -> tuple[list[str], list[str]]:
        """Return the words of a text's two columns, in order."""
        return self.of_form(words.body(text)), self.of_form(words.parts(text))

    def of_form(self, form: str) -> list[str]:
        """Return the words of what stands in a column, or is looked for there."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        pieces = _pieces(form)
        new = [piece for piece in dict.fromkeys(pieces) if piece not in self._known]
        if new:
            self._learn(new)
        return [word for piece in pieces for word in self._known[piece]]

    def _learn(self, pieces: list[str]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO words (rowid, body) VALUES (?, ?)", enumerate(pieces))
        found: dict[int, list[str]] = {}
        for place, word in self._db.execute("SELECT doc, term FROM seen ORDER BY doc, offset"):
            found.setdefault(place, []).append(_bounded(word))
        self._db.execute("ROLLBACK")
        self._known |= {piece: tuple(found.get(place, ())) for place, piece in enumerate(pieces)}

    def close(self) -> None:
        """Let go of it."""
        self._db.close()


def _pieces(form: str) -> list[str]:
    """Return what stands between blanks and, where all is ASCII, between signs: FTS5 reaches across neither."""
    if form.isascii():
        return _ASCII_WORD.findall(form.lower())
    found: list[str] = []
    for piece in form.split():
        found += _ASCII_WORD.findall(piece.lower()) if piece.isascii() else (piece,)
    return found


def _bounded(word: str) -> str:
    """Return a word; of one that is longer than any key may be, its beginning and what tells it from others."""
    return word if len(word) <= _LONG else f"{word[:_LONG]}~{sha256(word.encode()).hexdigest()[:16]}"
