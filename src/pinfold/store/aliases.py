"""What a query's words are worth for another query: the words of each phrasing, and how alike two phrasings are.

The words of a search that missed become aliases of the entry that answered it. A phrasing that is mostly made of the
same words asks the same; one that shares a word or two does not. Source: design 2, search_history.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pinfold.store.words import folded_words

ALIKE = 2 / 3
"""The least share of common words, as `words.share_of` counts them, at which two phrasings ask the same."""

_MAX_PHRASINGS = 8


def phrasings(query: str) -> tuple[frozenset[str], ...]:
    """Return the content words of each line of a query, the first eight of them."""
    return tuple(islice(_each_once(query), _MAX_PHRASINGS))


def _each_once(query: str) -> Iterator[frozenset[str]]:
    seen: set[frozenset[str]] = {frozenset()}
    for line in query.splitlines():
        words = folded_words(line)
        if words not in seen:
            seen.add(words)
            yield words
