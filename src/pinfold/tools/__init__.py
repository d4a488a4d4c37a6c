"""The five tools: the catalogue, their schemas, and `call`, the one way in.

Nothing here knows the protocol; `server` translates. Source: design 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinfold.context.quoting import one_line
from pinfold.store.errors import InvalidInputError, PinfoldError
from pinfold.tools import checkpoint_state, fetch_pointer, pin_decision, search_history, spill_artifact
from pinfold.tools.arguments import Arguments, accept, input_schema_of, redacted, without_secrets
from pinfold.tools.instructions import INSTRUCTIONS
from pinfold.tools.pointers import quote
from pinfold.tools.render import lines
from pinfold.tools.tool import Desk, Limits, Reply, Tool

if TYPE_CHECKING:
    from pinfold.store.redaction import Redactor

TOOLS: tuple[Tool, ...] = (
    pin_decision.TOOL,
    spill_artifact.TOOL,
    fetch_pointer.TOOL,
    search_history.TOOL,
    checkpoint_state.TOOL,
)
"""The catalogue, in the order in which it is listed."""

_PROJECT_CHARS = 100


def input_schema(tool: Tool) -> dict[str, Any]:
    """Return the tool's input schema (JSON Schema 2020-12), without titles, unions or references."""
    return input_schema_of(tool.arguments)


async def call(desk: Desk, name: str, raw_arguments: Mapping[str, object] | None) -> Reply:
    """Run one tool: check the arguments, replace known secret shapes in them, run it, name the project.

    Raises `PinfoldError` alone; anything else that comes out is a bug.
    """
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise InvalidInputError(
            f"{quote(name)} is no tool.", f"Tools: {', '.join(tool.name for tool in TOOLS)}."
        )
    redactor = desk.store.redactor
    try:
        arguments, found = redacted(_accepted(tool, raw_arguments, redactor), redactor)
        reply = await tool.run(desk, arguments)
    except PinfoldError as error:
        error.message = redactor.text(error.message).text
        raise
    return _framed(desk.store.project, reply, found)


def _accepted(tool: Tool, raw: Mapping[str, object] | None, redactor: Redactor) -> Arguments:
    try:
        return accept(tool.arguments, raw)
    except PinfoldError:
        # Said again of the redacted call: what an error quotes is cut short, and no rule knows half a secret.
        accept(tool.arguments, without_secrets(raw, redactor))
        raise


def _framed(project: str, reply: Reply, found: Counter[str]) -> Reply:
    """Add what every reply tells: the project, and how many secrets were replaced before storing."""
    secrets = found + Counter(reply.structured.get("redacted", {}))
    facts: dict[str, Any] = {"project": project, **reply.structured}
    if secrets:
        facts["redacted"] = dict(secrets)
    rules = ", ".join(f"{rule} {count}" for rule, count in secrets.items())
    told = f"redacted before storing: {rules}" if secrets else None
    return Reply(lines([reply.text, told, f"project: {one_line(project, _PROJECT_CHARS)}"]), facts)


__all__ = ["INSTRUCTIONS", "TOOLS", "Desk", "Limits", "Reply", "Tool", "call", "input_schema"]
