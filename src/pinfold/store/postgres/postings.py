"""What is written into the index of words: for each word of a transaction the entries that hold it, in one row."""

from __future__ import annotations

from collections.abc import Iterable

from pinfold.store.sql.database import Database

_MOST_HELD = 200_000
"""How many pairs of word and entry wait in memory before they are written: 20 MB."""

_PUT = (
    "INSERT INTO posting (token, oldest, newest, entries)"
    " SELECT token, ids[1], ids[cardinality(ids)], ids FROM ("
    " SELECT token, string_to_array(held, ' ')::bigint[] AS ids"
    " FROM unnest(?::text[], ?::text[]) AS given (token, held)) AS put"
)
_TAKE_OUT = (
    "UPDATE posting SET entries = array_remove(entries, ?)"
    " WHERE token = ANY(?::text[]) AND oldest <= ? AND newest >= ?"
)


class Postings:
    """The rows of `posting` that a transaction adds and changes."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._held: dict[str, list[int]] = {}
        self._pairs = 0

    def add(self, entry: int, words: Iterable[str]) -> None:
        """Note that an entry holds these words, each named once; entries come in ascending order."""
        for word in words:
            self._held.setdefault(word, []).append(entry)
            self._pairs += 1
        if self._pairs > _MOST_HELD:
            self.flush()

    def flush(self) -> None:
        """Write down what is noted."""
        if self._held:
            held = [" ".join(map(str, entries)) for entries in self._held.values()]
            self._db.execute(_PUT, (list(self._held), held))
        self._held, self._pairs = {}, 0

    def take_out(self, entry: int, words: Iterable[str]) -> None:
        """Take an entry out of the rows of its words."""
        self.flush()
        given = list(words)
        self._db.execute(_TAKE_OUT, (entry, given, entry, entry))
        self._db.execute("DELETE FROM posting WHERE token = ANY(?::text[]) AND entries = '{}'", (given,))

    def clear(self) -> None:
        """Take out everything."""
        self._held, self._pairs = {}, 0
        self._db.execute("DELETE FROM posting")
