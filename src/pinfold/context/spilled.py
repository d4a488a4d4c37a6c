"""What a model reads in place of an output that was put behind a pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinfold.context.visible import counted, size_text, visible
from pinfold.store.results import Artifact

_NEXT_LINES = 100
_CUT = "The client had cut it in the middle before; `{} run -- COMMAND` keeps all of a command's output."


def note_of(artifact: Artifact, fence: Callable[[str], str], uncut_by: str = "") -> str:
    """Return pointer, size, how to read on, where errors stand, and a fenced preview; about 250 tokens at most.

    `uncut_by`: what starts pinfold in a shell, where the client kept only a part of the output and so does the
    artifact.
    """
    return "\n".join(
        [*_facts(artifact), *([_CUT.format(uncut_by)] if uncut_by else []), *_preview(artifact, fence)]
    )


def _facts(artifact: Artifact) -> Iterator[str]:
    outline = artifact.outline
    pointer = artifact.pointer
    lines, size = counted(artifact.lines, "line"), size_text(artifact.size_bytes)
    about = "about " if outline.tokens_estimated else ""
    yield (
        f"pinfold keeps this output as {pointer}: {lines}, {size}, {about}{counted(outline.tokens, 'token')}."
        f' fetch_pointer("{pointer}", lines="1-{_NEXT_LINES}") reads a part of it, match="..." finds lines in it.'
    )
    if outline.error_lines:
        where = ", ".join(f"{pointer}#L{line}" for line in outline.first_errors)
        yield f"Lines with errors or warnings: {outline.error_lines:,}, first at {where}"


def _preview(artifact: Artifact, fence: Callable[[str], str]) -> Iterator[str]:
    preview = artifact.outline.preview
    if preview:
        shown, mark = visible(preview), fence(preview)
        yield f"<stored {mark}>\n{shown}\n</stored {mark}>"
