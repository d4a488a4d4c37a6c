"""A long output into the store, and what a report tells of it read back from there."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.context.drafting import draft
from pinfold.context.tokens import count
from pinfold.context.visible import clip
from pinfold.server.clients import in_shell
from pinfold.server.repository import head_of
from pinfold.server.run.kept import Kept, Piece
from pinfold.server.settings import Settings
from pinfold.server.stores import open_store_of
from pinfold.store import Store
from pinfold.store.commands import SpillArtifact
from pinfold.store.results import Artifact, ArtifactSlice, SpilledArtifact
from pinfold.store.sqlite.connection import Place
from pinfold.store.values import MAX_LABEL_CHARS, Caller

SOURCE = "pinfold run"
_END_BYTES = 64 * 1024
_LINE_BYTES = 4 * 1024


@dataclass(frozen=True, slots=True)
class Stored:
    """A long output behind its pointers: `whole`, or its beginning where `rest` holds its last bytes.

    `errors` are the first lines that report an error or a warning, `end` the last 64 KiB. The sizes are those of what
    was printed, before redaction. `new_project` names the project, where its store was made for this output.
    """

    whole: Artifact
    rest: Artifact | None
    errors: tuple[ArtifactSlice, ...]
    end: ArtifactSlice
    total_bytes: int
    first_bytes: int
    last_bytes: int
    new_project: str | None = None

    @property
    def dropped_bytes(self) -> int:
        """How many bytes between the first and the last are not kept."""
        return self.total_bytes - self.first_bytes - self.last_bytes


async def prepare(settings: Settings) -> bool:
    """Open and close the project's store and load the tokenizer; return whether that made the store.

    Raises what `open_store_of` raises.
    """
    is_new = _is_missing(settings)
    store = await open_store_of(settings)
    await store.close()
    count("")
    return is_new


def _is_missing(settings: Settings) -> bool:
    return settings.store is None and not Place(settings.store_folder).database.exists()


async def keep(settings: Settings, kept: Kept, label: str, *, is_new: bool) -> Stored:
    """Store a command's output, redacted; `is_new` if `prepare` made the store.

    Raises what `open_store_of` and `Store.spill_artifact` raise.
    """
    is_new = is_new or _is_missing(settings)
    store = await open_store_of(settings)
    try:
        spilled = await _spill(store, settings, kept.first(), label)
        whole, rest = spilled.artifact, None
        if kept.last_bytes:
            rest = (await _spill(store, settings, kept.last(), f"the end of: {label}")).artifact
        return Stored(
            whole=whole,
            rest=rest,
            errors=await _lines(store, whole.number, whole.outline.first_errors),
            end=await _end(store, rest or whole),
            total_bytes=kept.total_bytes,
            first_bytes=kept.first_bytes,
            last_bytes=kept.last_bytes,
            new_project=_named(settings) if is_new else None,
        )
    finally:
        await store.close()


def _named(settings: Settings) -> str:
    return f"{settings.project.name} ({settings.project.root})"


async def _lines(store: Store, number: int, lines: Iterable[int]) -> tuple[ArtifactSlice, ...]:
    return tuple([await store.artifact_lines(number, line, line, _LINE_BYTES) for line in lines])


async def _end(store: Store, artifact: Artifact) -> ArtifactSlice:
    return await store.artifact_bytes(artifact.number, max(0, artifact.size_bytes - _END_BYTES), _END_BYTES)


async def _spill(store: Store, settings: Settings, pieces: Iterable[Piece], label: str) -> SpilledArtifact:
    # Redaction may lengthen what was already cut to size.
    found = draft(store.redactor, (block for _, block in pieces), sys.maxsize)
    try:
        return await store.spill_artifact(
            SpillArtifact(
                caller=_caller(settings),
                content=found.content,
                outline=found.outline,
                label=clip(store.redactor.text(label).text, MAX_LABEL_CHARS),
                source=SOURCE,
            )
        )
    finally:
        found.content.close()


def _caller(settings: Settings) -> Caller:
    return in_shell(*head_of(settings.project))
