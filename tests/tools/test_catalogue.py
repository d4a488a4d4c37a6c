"""The tool list is a public API: what a model pays for it, and the whole of it, are held here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pinfold.context.tokens import count
from pinfold.store.commands import Message
from pinfold.tools import INSTRUCTIONS, TOOLS, Desk, input_schema
from tests.tools.conftest import Call

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
UPDATE = "PINFOLD_UPDATE_SNAPSHOTS"


def check(name: str, value: object) -> None:
    """Compare with the stored snapshot; a missing one is a failure unless updating is asked for."""
    file = SNAPSHOTS / f"{name}.json"
    if os.environ.get(UPDATE):
        file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert file.exists(), f"no snapshot {name}; set {UPDATE}=1 to write it"
    assert value == json.loads(file.read_text("utf-8"))


def test_the_tool_list_is_the_published_one() -> None:
    check(
        "tools",
        [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": input_schema(tool),
                "annotations": dict(tool.annotations),
                "meta": dict(tool.meta),
            }
            for tool in TOOLS
        ],
    )


def test_there_are_five_tools_in_a_fixed_order() -> None:
    assert [tool.name for tool in TOOLS] == [
        "pin_decision",
        "spill_artifact",
        "fetch_pointer",
        "search_history",
        "checkpoint_state",
    ]


def test_the_tool_list_costs_a_model_at_most_1000_tokens() -> None:
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": input_schema(tool)}
        for tool in TOOLS
    ]
    assert count(json.dumps(listed, separators=(",", ":"), ensure_ascii=False)) <= 1_000


def test_the_instructions_cost_at_most_120_tokens_and_begin_with_whole_sentences() -> None:
    assert count(INSTRUCTIONS) <= 120
    first = INSTRUCTIONS[: INSTRUCTIONS[:250].rindex(". ") + 1]
    assert all(tool.name in first for tool in TOOLS)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_plain_and_valid(tool: Any) -> None:
    schema = input_schema(tool)
    jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert schema["additionalProperties"] is False
    assert not [word for word in ("$defs", "$ref", "anyOf", "title") if f'"{word}"' in text]


def shape(value: object) -> object:
    """Return the value with every leaf replaced by its type."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


@pytest.mark.anyio
async def test_results_have_the_published_shapes(desk: Desk, tool: Call) -> None:
    await desk.store.append_messages(
        desk.caller, [Message("user", "run the demo"), Message("assistant", "ok")]
    )
    calls: list[tuple[str, dict[str, object]]] = [
        ("pin_decision", {"text": "Never cache the demo", "why": "it is stale", "kind": "dead_end"}),
        (
            "pin_decision",
            {"text": "Never cache the demo now", "why": "stale", "supersedes": ["P1"], "files": ["a.py"]},
        ),
        ("spill_artifact", {"content": "ERROR: no\n" * 3_000, "label": "log", "source": "make"}),
        ("checkpoint_state", {"goal": "g", "pending": ["a"], "next_step": "n"}),
        ("search_history", {"query": "demo"}),
        ("fetch_pointer", {"pointer": "P1"}),
        ("fetch_pointer", {"pointer": "A1"}),
        ("fetch_pointer", {"pointer": "A1#B0-9"}),
        ("fetch_pointer", {"pointer": "A1", "match": "ERROR"}),
        ("fetch_pointer", {"pointer": "C1"}),
        ("fetch_pointer", {"pointer": "H2"}),
        ("fetch_pointer", {"pointer": "S1"}),
        ("fetch_pointer", {"pointer": "brief"}),
        ("fetch_pointer", {"pointer": "pins"}),
        ("fetch_pointer", {"pointer": "artifacts"}),
        ("fetch_pointer", {"pointer": "checkpoints"}),
    ]
    shapes = {}
    for name, arguments in calls:
        reply = await tool(name, **arguments)
        assert "null" not in json.dumps(reply.structured)
        assert "project: demo" in reply.text
        shapes[f"{name} {json.dumps(arguments)[:60]}"] = shape(reply.structured)
    check("results", shapes)
