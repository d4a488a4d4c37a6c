"""What a query's words are worth for another query: the words of each phrasing, and how alike two phrasings are.

The words of a search that missed become aliases of the entry that answered it. A phrasing that is mostly made of the
same words asks the same; one that shares a word or two does not. Source: design 2, search_history.
"""

from __future__ import annotations

from pinfold.store.words import folded_words

ALIKE = 2 / 3
"""The least share of common words, as `words.share_of` counts them, at which two phrasings ask the same."""

_MAX_PHRASINGS = 8


def phrasings(query: str) -> tuple[frozenset[str], ...]:
    """Return the content words of each line of a query, the first eight of them."""
    found = (folded_words(line) for line in query.splitlines())
    return tuple(dict.fromkeys(words for words in found if words))[:_MAX_PHRASINGS]
