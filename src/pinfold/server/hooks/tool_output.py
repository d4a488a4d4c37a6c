"""PostToolUse: output above the threshold is stored whole, and the model reads preview and pointer in its place."""

from __future__ import annotations

from pinfold.context.drafting import draft
from pinfold.context.estimate import ceiling
from pinfold.context.spilled import note_of
from pinfold.server.hooks.occasion import Occasion
from pinfold.server.hooks.output import Output
from pinfold.store.commands import SpillArtifact

_SURE_CHARS_PER_TOKEN = 8


def act(occasion: Occasion) -> str:
    """Return what the client takes as the tool's new output, nothing for an output that is short enough."""
    output: Output | None = occasion.particulars.tool_output(occasion)
    if output is None or not is_long(output, occasion.settings.spill_tokens):
        return ""
    with occasion.store() as store:
        made = draft(store.redactor, output.blocks(), occasion.settings.max_artifact_bytes, exact=False)
        clean = store.redactor.text
        try:
            spilled = store.spill_artifact(
                SpillArtifact(
                    occasion.caller, made.content, made.outline, clean(output.label).text, output.tool
                )
            )
        finally:
            made.content.close()
        note = note_of(spilled.artifact, store.fence)
    return str(occasion.particulars.replaced(occasion, output, note))


def is_long(output: Output, limit: int) -> bool:
    """Whether an output has more tokens than the limit; loads a vocabulary only where that is not plain to see."""
    if output.tokens is not None:
        return output.tokens > limit
    if len(output.text) > _SURE_CHARS_PER_TOKEN * limit:
        return True
    if len(output.text) <= limit or ceiling(output.text) <= limit:
        return False
    from pinfold.context.tokens import count

    return count(output.text) > limit
