"""What a search gives back: hits, pages of them, and the record of what was asked."""

from __future__ import annotations

from dataclasses import dataclass

HIT_KINDS = ("pins", "dead_ends", "checkpoints", "artifacts", "messages", "tool_results", "folds")

COMPLETE_TIERS = ("exact phrase", "all words")
"""The tiers of what holds all that was asked for."""

LEARNED_TIER = "learned words"
"""The tier of what answered an earlier search that missed: found by the words of that, not by its own."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. `tier` is one of those of `SearchPage`; `ref` is an import's external id.

    `note` says e.g. which superseded pin it replaces. `like` are pointers to what reads the same, and is no hit of its
    own.
    """

    pointer: str
    kind: str
    at: str
    session: int
    snippet: str
    tier: str
    title: str = ""
    ref: str | None = None
    note: str | None = None
    like: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The outcome of `search_history`. `tier` is that of the best hit, none without one.

    A tier is exact phrase, all words, most words, substring (inside of words, or their beginnings) or word parts
    (only pieces of identifiers, such as `foo` of `foo_1500`); what answered an earlier miss comes behind what holds all
    words, as learned words. `covered` is the share of the query's words, 0 to 1, that the best hit holds of those found
    by them: learned words do not count. `bounded` says that only the newest entries were looked at, since all words
    were too common (with a filter: all that stand within it) or stand inside of others. `pointer` is the search's own,
    e.g. `S8` (None where nothing can be written). `repeats` are pointers to what reads the same as hits of earlier
    pages. Where no hit holds all words, `through` are pointers to artifacts too large for the index that were looked
    through for this search, and `partly` to those that there was no time for: they were searched at their ends only;
    of each the newest few. `unquoted` says that nothing holds a quoted part of the query as a phrase, so that these
    hits are what was found by its words.
    """

    pointer: str | None
    tier: str
    hits: tuple[Hit, ...]
    covered: float
    bounded: bool
    next_cursor: str | None
    missed: str | None = None
    repeats: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    unquoted: bool = False


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """One earlier search: what was asked and what it gave. `missed` says why it counts as a miss, if it does.

    `session` is 0 for a search of a conversation that had written nothing yet. `by_person`: it was entered at the
    command line, outside of an agent's client. `answer` is the entry that finally answered a miss, `how` in what way:
    opened, shown, pinned, or as the dead end that was tried again.
    """

    number: int
    seq: int | None
    at: str
    session: int
    query: str
    hits: tuple[str, ...]
    missed: str | None = None
    by_person: bool = False
    answer: str | None = None
    how: str | None = None
