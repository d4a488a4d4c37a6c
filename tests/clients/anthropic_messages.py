"""The Anthropic Messages format, as Claude Code and opencode speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clients.dialogue import Call, Event, Json, Result, Say, Turn, joined_text, one_channel

PATH = "/v1/messages"


def offered(request: Json) -> tuple[str, ...]:
    """Return the names of the tools whose schemas the model was given."""
    return tuple(str(tool["name"]) for tool in request.get("tools") or [])


def reply(turn: Turn, request: Json, number: int) -> Iterator[Event]:
    """Yield the events of one streamed reply."""
    usage = {"input_tokens": 1000, "output_tokens": 20}
    envelope = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model")}
    unfinished: Json = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event("message_start", message=envelope | unfinished)
    start, delta, stop_reason = _block(turn, request, number)
    yield _event("content_block_start", index=0, content_block=start)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
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
            yield one_channel(tools[part["tool_use_id"]], text, bool(part.get("is_error")))


def _parts(request: Json) -> Iterator[Json]:
    for message in request["messages"]:
        if isinstance(message["content"], list):
            yield from message["content"]


def _block(turn: Turn, request: Json, number: int) -> tuple[Json, Json, str]:
    match turn:
        case Say(text):
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn"
        case Call(tool, arguments):
            name = next((known for known in offered(request) if known.endswith(f"_{tool}")), tool)
            start = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
            return start, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use"


def _event(kind: str, **fields: object) -> Event:
    return kind, {"type": kind, **fields}
