"""PostToolUse: output above the threshold is stored whole, and the model reads preview and pointer in its place."""

from __future__ import annotations

import os

from pinfold.context.drafting import draft
from pinfold.context.estimate import ceiling
from pinfold.context.quoting import one_line
from pinfold.context.spilled import note_of
from pinfold.server.hooks.occasion import Occasion
from pinfold.server.hooks.output import Output
from pinfold.store.commands import SpillArtifact
from pinfold.store.results import Artifact
from pinfold.store.sync import SyncStore

_SURE_CHARS_PER_TOKEN = 8
_LABEL_CHARS = 200


def act(occasion: Occasion) -> str:
    """Return what the client takes as the tool's new output, nothing for an output that is short enough."""
    output: Output | None = occasion.particulars.tool_output(occasion)
    if output is None or not is_long(output, occasion.settings.spill_tokens):
        return ""
    with occasion.store() as store:
        artifact = _spill(occasion, store, output)
        note = note_of(artifact, store.fence, _uncut_by() if output.is_cut else "")
    return str(occasion.particulars.replaced(occasion, note))


def _spill(occasion: Occasion, store: SyncStore, output: Output) -> Artifact:
    made = draft(store.redactor, output.blocks(), occasion.settings.max_artifact_bytes, exact=False)
    label = one_line(store.redactor.text(output.label).text, _LABEL_CHARS)
    try:
        tool = store.redactor.text(output.tool).text[:_LABEL_CHARS]
        explores = occasion.text("agent_id") is not None
        command = SpillArtifact(occasion.caller, made.content, made.outline, label, tool, aside=explores)
        return store.spill_artifact(command).artifact
    finally:
        made.content.close()


def _uncut_by() -> str:
    from pinfold.server.own_command import command_name

    return command_name()


def is_long(output: Output, limit: int) -> bool:
    """Whether an output has more tokens than the limit; loads a vocabulary only where that is not plain to see.

    Of what the client itself put into a file the model is shown no more than the beginning, so that is long unless
    it cannot be.
    """
    if output.tokens is not None:
        return output.tokens > limit
    if output.path is not None:
        return os.path.getsize(output.path) > limit
    if len(output.text) > _SURE_CHARS_PER_TOKEN * limit:
        return True
    if len(output.text) <= limit or ceiling(output.text) <= limit:
        return False
    from pinfold.context.tokens import count

    return count(output.text) > limit
