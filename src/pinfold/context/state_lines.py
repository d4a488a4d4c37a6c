"""The brief's other parts: working state, live artifacts, last fold. Each line goes in if there is room for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pinfold.context.visible import counted, shorten, size_text
from pinfold.store.results import Artifact, BriefState, Checkpoint, Fold

_ITEM_CHARS = 400
_DONE_CHARS = 100
_DONE_ITEMS = 5
_FILES = 15
_PATH_CHARS = 120
_LABEL_CHARS = 80
_SAID_CHARS = 240


def state_texts(state: BriefState) -> Iterator[str]:
    """Yield the lines of the latest checkpoint, most needed first; items closed since then are not pending."""
    checkpoint = state.checkpoint
    if checkpoint is None:
        return
    origin = "" if checkpoint.session == state.session else f", written in session {checkpoint.session}"
    yield f"State at checkpoint {checkpoint.pointer}{origin}"
    if checkpoint.goal:
        yield f"Goal: {shorten(checkpoint.goal, _ITEM_CHARS)}"
    if checkpoint.next_step:
        yield f"Next step: {shorten(checkpoint.next_step, _ITEM_CHARS)}"
    yield from _items("Pending", (item for item in checkpoint.pending if item not in state.closed))
    yield from _items("Constraint", checkpoint.constraints)
    yield from _items("Fact", checkpoint.facts)
    yield from _done(checkpoint)
    yield from _places(checkpoint)


def _items(label: str, items: Iterable[str]) -> Iterator[str]:
    return (f"{label}: {shorten(item, _ITEM_CHARS)}" for item in items)


def _done(checkpoint: Checkpoint) -> Iterator[str]:
    """Yield the last items done, in one line, and how many came before."""
    if checkpoint.done:
        last = "; ".join(shorten(item, _DONE_CHARS) for item in checkpoint.done[-_DONE_ITEMS:])
        earlier = len(checkpoint.done) - _DONE_ITEMS
        yield f"Done: {last}" + (f" (and {earlier} before, in {checkpoint.pointer})" if earlier > 0 else "")


def _places(checkpoint: Checkpoint) -> Iterator[str]:
    if checkpoint.files:
        more = len(checkpoint.files) - _FILES
        yield f"Files: {', '.join(shorten(path, _PATH_CHARS) for path in checkpoint.files[:_FILES])}" + (
            f" and {more} more" if more > 0 else ""
        )
    if checkpoint.head:
        branch = f" on {shorten(checkpoint.branch, _PATH_CHARS)}" if checkpoint.branch else ""
        yield f"Repository then: {checkpoint.head[:12]}{branch}"


def artifact_texts(artifacts: Sequence[Artifact], count: int) -> Iterator[str]:
    """Yield one line per artifact, newest first: pointer, label, size; then how many more there are."""
    if not artifacts:
        return
    yield "Artifacts"
    for artifact in artifacts:
        label = artifact.label or artifact.path or artifact.source or artifact.outline.media_type
        yield f"{artifact.pointer}  {shorten(label, _LABEL_CHARS)}  {size_text(artifact.size_bytes)}"
    if count > len(artifacts):
        yield f'{count - len(artifacts)} older: fetch_pointer("artifacts")'


def fold_texts(fold: Fold | None) -> Iterator[str]:
    """Yield what the last fold did and what its summary dropped, as pointers."""
    if fold is None:
        return
    yield f"Last fold {fold.pointer} ({', '.join(_figures(fold))})"
    if fold.lost:
        pins = ", ".join(f"P{number}" for number in sorted(fold.lost))
        yield f"Its summary dropped specifics of {pins}; the pins hold them"
    if fold.offered:
        yield "Said before it, not in its summary, not pinned"
        yield from (f"{pointer}  {shorten(said, _SAID_CHARS)}" for pointer, said in fold.offered)
    if fold.strings:
        from pinfold.context.string_lines import string_lines  # its patterns are many

        yield from string_lines(fold.strings, fold.pointer)


def _figures(fold: Fold) -> Iterator[str]:
    if fold.trigger != "unknown":
        yield fold.trigger
    if fold.tokens_before is not None and fold.tokens_after is not None:
        yield f"{fold.tokens_before:,} to {fold.tokens_after:,} tokens"
    if fold.messages is not None:
        yield counted(fold.messages, "message")
