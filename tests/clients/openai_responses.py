"""The OpenAI Responses format, as Codex speaks it: tools called directly, or from a script (code mode)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clients.dialogue import Call, Event, Json, Result, Say, Shell, Turn, joined_text, one_channel

PATH = "/v1/responses"
SUMMARY = "{}"
"""The form in which the client asks for the summary of a compaction."""
_FOLDING = "CONTEXT CHECKPOINT COMPACTION"


def offered(request: Json) -> tuple[str, ...]:
    """Return the names of the tools that the model was given, those inside namespaces too."""
    return tuple(name for name, _ in _tools(request))


def is_code_mode(request: Json) -> bool:
    """Say whether the model calls tools from JavaScript that it hands to one tool, `exec`."""
    names = offered(request)
    return "exec" in names and "exec_command" not in names


def prompts(request: Json) -> tuple[str, ...]:
    """Return what stands in the user's name in a request."""
    return tuple(joined_text(item["content"]) for item in request["input"] if item.get("role") == "user")


def wants_summary(request: Json) -> bool:
    """Say whether the client asks for the summary of a compaction."""
    return _FOLDING in prompts(request)[-1]


def reply(turn: Turn, request: Json, number: int) -> Iterator[Event]:
    """Yield the events of one streamed reply."""
    items = list(_items(turn, request, number))
    yield _event("response.created", response={"id": f"resp_{number}"})
    for index, item in enumerate(items):
        yield _event("response.output_item.added", output_index=index, item=item)
        yield _event("response.output_item.done", output_index=index, item=item)
    usage = {"input_tokens": turn.read, "output_tokens": 20, "total_tokens": turn.read + 20}
    response = {"id": f"resp_{number}", "model": request.get("model"), "output": items, "usage": usage}
    yield _event("response.completed", response=response)


def results(request: Json) -> Iterator[Result]:
    """Yield the tool results that stand in a request, in order."""
    tools: dict[str, str] = {}
    for item in request["input"]:
        kind, call = item.get("type"), item.get("call_id")
        if kind in ("function_call", "custom_tool_call"):
            tools[call] = item["name"]
        elif kind == "function_call_output":
            yield one_channel(call, tools[call], _below_heading(item), None)
        elif kind == "custom_tool_call_output":
            yield _printed(call, tools[call], _below_heading(item))


def _below_heading(item: Json) -> str:
    """Return an output without the lines on time and status that Codex puts above it."""
    text = joined_text(item["output"])
    _, heading, output = text.partition("Output:\n")
    return output if heading else text


def _printed(call: str, tool: str, output: str) -> Result:
    """Read the whole MCP result that a script printed."""
    whole = json.loads(output)
    text, structured = joined_text(whole["content"]), whole.get("structuredContent")
    return Result(call, tool, text, structured, whole["isError"])


def _tools(request: Json) -> Iterator[tuple[str, str | None]]:
    groups = [request.get("tools") or []]
    groups += [item["tools"] for item in request["input"] if item.get("type") == "additional_tools"]
    for tool in (tool for group in groups for tool in group):
        if tool.get("type") == "namespace":
            yield from ((inner["name"], tool["name"]) for inner in tool["tools"])
        elif "name" in tool:
            yield tool["name"], None


def _items(turn: Turn, request: Json, number: int) -> Iterator[Json]:
    text = turn.text if isinstance(turn, Say) else turn.note
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        yield {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    if isinstance(turn, Say):
        return
    name, arguments = _tool(turn)
    kind, said = "function_call", {"arguments": json.dumps(arguments)}
    if is_code_mode(request):
        kind, said, name = "custom_tool_call", {"input": _script(name, arguments)}, "exec"
    call = {"type": kind, "id": f"item_{number}", "call_id": f"call_{number}", "name": name, **said}
    namespace = dict(_tools(request)).get(name)
    yield call | ({"namespace": namespace} if namespace else {})


def _tool(turn: Call | Shell) -> tuple[str, Json]:
    if isinstance(turn, Shell):
        return "exec_command", {"cmd": turn.command}
    return turn.tool, dict(turn.arguments)


def _script(tool: str, arguments: Json) -> str:
    name = tool if tool == "exec_command" else f"mcp__pinfold__{tool}"
    return f"text(await tools.{name}({json.dumps(arguments)}));"


def _event(kind: str, **fields: object) -> Event:
    return kind, {"type": kind, **fields}
