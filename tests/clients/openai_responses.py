"""The OpenAI Responses format, as Codex speaks it: tools called directly, or from a script (code mode)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clients.dialogue import Call, Event, Json, Result, Say, Turn, joined_text, one_channel

PATH = "/v1/responses"


def offered(request: Json) -> tuple[str, ...]:
    """Return the names of the tools that the model was given, those inside namespaces too."""
    return tuple(name for name, _ in _tools(request))


def is_code_mode(request: Json) -> bool:
    """Say whether the model calls tools from JavaScript that it hands to one tool, `exec`."""
    names = offered(request)
    return "exec" in names and "exec_command" not in names


def reply(turn: Turn, request: Json, number: int) -> Iterator[Event]:
    """Yield the events of one streamed reply."""
    item = _item(turn, request, number)
    yield _event("response.created", response={"id": f"resp_{number}"})
    yield _event("response.output_item.added", output_index=0, item=item)
    yield _event("response.output_item.done", output_index=0, item=item)
    usage = {"input_tokens": 1000, "output_tokens": 20, "total_tokens": 1020}
    response = {"id": f"resp_{number}", "model": request.get("model"), "output": [item], "usage": usage}
    yield _event("response.completed", response=response)


def results(request: Json) -> Iterator[Result]:
    """Yield the tool results that stand in a request, in order."""
    tools: dict[str, str] = {}
    for item in request["input"]:
        kind = item.get("type")
        if kind in ("function_call", "custom_tool_call"):
            tools[item["call_id"]] = item["name"]
        elif kind == "function_call_output":
            yield one_channel(tools[item["call_id"]], _below_heading(item), None)
        elif kind == "custom_tool_call_output":
            yield _printed(tools[item["call_id"]], _below_heading(item))


def _below_heading(item: Json) -> str:
    """Return an output without the lines on time and status that Codex puts above it."""
    text = joined_text(item["output"])
    _, heading, output = text.partition("Output:\n")
    return output if heading else text


def _printed(tool: str, output: str) -> Result:
    """Read the whole MCP result that a script printed."""
    whole = json.loads(output)
    return Result(tool, joined_text(whole["content"]), whole.get("structuredContent"), whole["isError"])


def _tools(request: Json) -> Iterator[tuple[str, str | None]]:
    groups = [request.get("tools") or []]
    groups += [item["tools"] for item in request["input"] if item.get("type") == "additional_tools"]
    for tool in (tool for group in groups for tool in group):
        if tool.get("type") == "namespace":
            yield from ((inner["name"], tool["name"]) for inner in tool["tools"])
        elif "name" in tool:
            yield tool["name"], None


def _item(turn: Turn, request: Json, number: int) -> Json:
    match turn:
        case Say(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
        case Call() if is_code_mode(request):
            kind, name, said = "custom_tool_call", "exec", {"input": _script(turn)}
        case Call(tool, arguments):
            kind, name, said = "function_call", tool, {"arguments": json.dumps(arguments)}
    call = {"type": kind, "id": f"item_{number}", "call_id": f"call_{number}", "name": name, **said}
    namespace = dict(_tools(request)).get(name)
    return call | ({"namespace": namespace} if namespace else {})


def _script(call: Call) -> str:
    return f"text(await tools.mcp__pinfold__{call.tool}({json.dumps(call.arguments)}));"


def _event(kind: str, **fields: object) -> Event:
    return kind, {"type": kind, **fields}
