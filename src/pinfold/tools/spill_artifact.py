"""spill_artifact: put something long behind a pointer, read by the server where it is already in a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from anyio import CancelScope, to_thread
from pydantic import Field

from pinfold.context.drafting import Draft, draft
from pinfold.context.visible import counted
from pinfold.store.commands import Outline
from pinfold.store.commands import SpillArtifact as Command
from pinfold.store.errors import InvalidInputError
from pinfold.store.results import SpilledArtifact
from pinfold.store.values import MAX_LABEL_CHARS, MAX_PATH_CHARS
from pinfold.tools.arguments import Arguments
from pinfold.tools.checks import KEY, Content, Query, Text
from pinfold.tools.coverage import coverage
from pinfold.tools.render import NOTE, fenced, lean, lines, named
from pinfold.tools.tool import WRITES, Desk, Reply, Tool

_BLOCK_CHARS = 256 * 1024
_DIGEST_CHARS = 12


class SpillArtifact(Arguments):
    """Arguments of spill_artifact; exactly one of `path` and `content`."""

    path: Annotated[
        str, Query(MAX_PATH_CHARS), Field(description="file in the project; read by the server")
    ] = ""
    content: Annotated[str, Content(), Field(description="only if there is no file")] = ""
    label: Annotated[str, Text(MAX_LABEL_CHARS), Field(description="what it is, e.g. the command")] = ""
    source: Annotated[str, Text(MAX_LABEL_CHARS)] = ""
    key: Annotated[str, KEY, Field(description="idempotency")] = ""


async def run(desk: Desk, arguments: SpillArtifact) -> Reply:
    """Read, redact, outline and store in one pass off the event loop. Raises as `Roots.open` and `Store`."""
    if "content" in arguments.model_fields_set and not (arguments.content or arguments.path):
        raise InvalidInputError("`content` is empty.", "There is nothing to spill.")
    if bool(arguments.path) == bool(arguments.content):
        raise InvalidInputError(
            "Exactly one of `path` and `content` is needed.", "Pass `path` where a file exists."
        )
    # The thread ends in any case; shielded, its spool reaches the `finally` even when the caller has gone.
    with CancelScope(shield=True):
        found, path = await to_thread.run_sync(_draft, desk, arguments)
    try:
        result = await desk.store.spill_artifact(
            Command(
                caller=desk.caller,
                content=found.content,
                outline=found.outline,
                label=arguments.label,
                source=arguments.source,
                path=path,
                key=arguments.key or None,
            )
        )
    finally:
        found.content.close()
    return _reply(desk, result, found.redacted)


def _draft(desk: Desk, arguments: SpillArtifact) -> tuple[Draft, str | None]:
    limit, redactor = desk.limits.artifact_bytes, desk.store.redactor
    if not arguments.path:
        return draft(redactor, _encoded(arguments.content), limit), None
    with desk.roots.open(arguments.path, limit) as file:
        return draft(redactor, file.blocks(), limit), redactor.text(file.name).text


def _encoded(text: str) -> Iterator[bytes]:
    for start in range(0, len(text), _BLOCK_CHARS):
        yield text[start : start + _BLOCK_CHARS].encode()


def _reply(desk: Desk, result: SpilledArtifact, redacted: tuple[tuple[str, int], ...]) -> Reply:
    artifact, outline = result.artifact, result.artifact.outline
    same = f"A{artifact.same_bytes_as}" if artifact.same_bytes_as else None
    status = "repeated" if result.repeated else "spilled"
    facts = lean(
        {
            "pointer": artifact.pointer,
            "status": status,
            "receipt": str(result.receipt),
            "label": artifact.label,
            "path": artifact.path,
            "bytes": artifact.size_bytes,
            "lines": artifact.lines,
            "tokens": outline.tokens,
            "tokens_estimated": outline.tokens_estimated,
            "sha256": artifact.sha256[:_DIGEST_CHARS],
            "type": outline.media_type,
            "json": outline.json_state,
            "error_lines": outline.error_lines or None,
            "first_errors": list(outline.first_errors),
            "same_bytes_as": same,
            "searchable_bytes": artifact.indexed_bytes if artifact.is_part_searchable else None,
            "preview": outline.preview,
            "redacted": dict(redacted),
            "note": NOTE,
        }
    )
    text = lines(
        [
            f"{artifact.pointer} {status}, receipt {result.receipt}: {_size(result)}",
            named({"label": artifact.label, "path": artifact.path or ""}),
            f"same bytes as {same}" if same else None,
            f"JSON: {outline.json_state}" if outline.json_state else None,
            _errors(artifact.pointer, outline),
            coverage(artifact),
            fenced(desk.store, outline.preview) if outline.preview else None,
        ]
    )
    return Reply(text, facts)


def _size(result: SpilledArtifact) -> str:
    artifact, outline = result.artifact, result.artifact.outline
    about = "about " if outline.tokens_estimated else ""
    return ", ".join(
        [
            counted(artifact.size_bytes, "byte"),
            counted(artifact.lines, "line"),
            f"{about}{counted(outline.tokens, 'token')}",
            outline.media_type,
            f"sha256 {artifact.sha256[:_DIGEST_CHARS]}",
        ]
    )


def _errors(pointer: str, outline: Outline) -> str | None:
    if not outline.error_lines:
        return None
    where = ", ".join(f"{pointer}#L{line}" for line in outline.first_errors)
    return f"{counted(outline.error_lines, 'line')} with errors or warnings, first at {where}"


TOOL = Tool(
    name="spill_artifact",
    title="Spill artifact",
    description=(
        "Put long output (logs, diffs, JSON) behind a pointer instead of carrying it along. Give path, else "
        "content. At most 256 MiB. Returns the pointer (A12), size, preview and first error lines."
    ),
    arguments=SpillArtifact,
    annotations=WRITES,
    run=run,
)
