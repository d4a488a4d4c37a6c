"""The Anthropic Messages format, as Claude Code and opencode speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clients.dialogue import Call, Event, Json, Result, Say, Shell, Turn, joined_text, one_channel

PATH = "/v1/messages"
SUMMARY = "<summary>{}</summary>"
"""The form in which the client asks for the summary of a compaction."""
_FOLDING = "Your task is to create a detailed summary of"


def offered(request: Json) -> tuple[str, ...]:
    """Return the names of the tools whose schemas the model was given."""
    return tuple(str(tool["name"]) for tool in request.get("tools") or [])


def prompts(request: Json) -> tuple[str, ...]:
    """Return what stands in the user's name in a request, tool results left out."""
    return tuple(
        joined_text(message["content"]) for message in request["messages"] if message["role"] == "user"
    )


def wants_summary(request: Json) -> bool:
    """Say whether the client asks for the summary of a compaction."""
    return _FOLDING in prompts(request)[-1]


def reply(turn: Turn, request: Json, number: int) -> Iterator[Event]:
    """Yield the events of one streamed reply."""
    usage = {"input_tokens": turn.read, "output_tokens": 20}
    envelope = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model")}
    unfinished: Json = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event("message_start", message=envelope | unfinished)
    for index, (start, delta) in enumerate(_blocks(turn, request, number)):
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop_reason = "end_turn" if isinstance(turn, Say) else "tool_use"
    yield _event("message_delta", delta={"stop_reason": stop_reason, "stop_sequence": None}, usage=usage)
    yield _event("message_stop")


def results(request: Json) -> Iterator[Result]:
    """Yield the tool results that stand in a request, in order."""
    tools: dict[str, str] = {}
    for part in _parts(request):
        if part["type"] == "tool_use":
            tools[part["id"]] = part["name"]
        elif part["type"] == "tool_result":
            text = joined_text(part.get("content"))
            call = part["tool_use_id"]
            yield one_channel(call, tools[call], text, bool(part.get("is_error")))


def _parts(request: Json) -> Iterator[Json]:
    for message in request["messages"]:
        if isinstance(message["content"], list):
            yield from message["content"]


def _blocks(turn: Turn, request: Json, number: int) -> Iterator[tuple[Json, Json]]:
    text = turn.text if isinstance(turn, Say) else turn.note
    if text:
        yield {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
    if isinstance(turn, Say):
        return
    name, arguments = _tool(turn, request)
    start = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
    yield start, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}


def _tool(turn: Call | Shell, request: Json) -> tuple[str, Json]:
    if isinstance(turn, Shell):
        return "Bash", {"command": turn.command, "description": "Run it"}
    name = next((known for known in offered(request) if known.endswith(f"_{turn.tool}")), turn.tool)
    return name, dict(turn.arguments)


def _event(kind: str, **fields: object) -> Event:
    return kind, {"type": kind, **fields}
