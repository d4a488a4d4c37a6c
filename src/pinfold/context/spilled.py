"""What a model reads in place of an output that was put behind a pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinfold.context.visible import size_text, visible
from pinfold.store.results import Artifact

_NEXT_LINES = 100


def note_of(artifact: Artifact, fence: Callable[[str], str], *, is_cut: bool = False) -> str:
    """Return pointer, size, how to read on, where errors stand, and a fenced preview; about 250 tokens at most.

    `is_cut`: the client kept only a part of the output, and so does the artifact.
    """
    return "\n".join(_lines(artifact, fence, is_cut))


def _lines(artifact: Artifact, fence: Callable[[str], str], is_cut: bool) -> Iterator[str]:
    outline = artifact.outline
    pointer = artifact.pointer
    about = "about " if outline.tokens_estimated else ""
    yield (
        f"pinfold keeps this output as {pointer}: {artifact.lines:,} lines, {size_text(artifact.size_bytes)},"
        f" {about}{outline.tokens:,} tokens. fetch_pointer(\"{pointer}\", lines=\"1-{_NEXT_LINES}\") reads a part of"
        f" it, match=\"...\" finds lines in it."
    )
    if is_cut:
        yield "The client had cut it in the middle before; `pinfold run -- COMMAND` keeps all of a command's output."
    if outline.error_lines:
        where = ", ".join(f"{pointer}#L{line}" for line in outline.first_errors)
        yield f"Lines with errors or warnings: {outline.error_lines:,}, first at {where}"
    if outline.preview:
        shown = visible(outline.preview)
        mark = fence(outline.preview)
        yield f"<stored {mark}>\n{shown}\n</stored {mark}>"
