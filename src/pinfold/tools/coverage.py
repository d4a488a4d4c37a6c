"""What search does not reach in an artifact, said wherever that matters."""

from __future__ import annotations

from pinfold.store.results import Artifact


def coverage(artifact: Artifact) -> str | None:
    """Return how much of an artifact search finds, None where it is all or nothing."""
    if not artifact.is_part_searchable:
        return None
    return (
        f"search finds {artifact.indexed_bytes:,} bytes of it, at its beginning and its end, and looks through the rest"
        " where nothing else holds all words; fetch reads all"
    )


def partly_searched(pointers: tuple[str, ...]) -> str | None:
    """Return what a search says of artifacts between whose ends there was no time to look."""
    if not pointers:
        return None
    them = f"{', '.join(pointers)} {'is' if len(pointers) == 1 else 'are'}"
    return f'{them} searched at both ends only; fetch_pointer("{pointers[0]}", match="…") reads all.'


def looked_through(pointers: tuple[str, ...]) -> str | None:
    """Return what a search says of artifacts that it has read for once, not only looked up in the index."""
    if not pointers:
        return None
    them = f"{', '.join(pointers)} {'was' if len(pointers) == 1 else 'were'}"
    return f"{them} looked through from end to end."
