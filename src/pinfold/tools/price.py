"""What a model pays for the tools before it uses any."""

from __future__ import annotations

import json

from pinfold.context.tokens import count
from pinfold.tools import INSTRUCTIONS, TOOLS, input_schema


def catalogue_tokens() -> int:
    """Return the o200k tokens of all names, descriptions and input schemas."""
    published = [
        {"name": tool.name, "description": tool.description, "inputSchema": input_schema(tool)}
        for tool in TOOLS
    ]
    return count(json.dumps(published, ensure_ascii=False, separators=(",", ":")))


def instructions_tokens() -> int:
    """Return the o200k tokens of the server's instructions."""
    return count(INSTRUCTIONS)
