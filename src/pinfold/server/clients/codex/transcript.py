"""What a rollout, the transcript of a Codex thread, says. Seen up to 0.171.0."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pinfold.server.clients.codex import NAME
from pinfold.server.transcripts.calls import Call, call, rendered
from pinfold.server.transcripts.items import Compacted, Heading, Item, Picture, Spoken
from pinfold.server.transcripts.lenient import Json, count, instant, parsed, rows, table, word

_KNOWN = frozenset(
    "compacted event_msg inter_agent_communication response_item session_meta token_usage_record turn_context"
    " world_state".split()
)
_BOOKKEEPING = re.compile(
    rb'\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":'
    rb'"(?:token_usage_record|turn_context|world_state|event_msg","payload":\{"type":"(?!token_count))'
)
"""How lines begin that say nothing, or once more what others say; never looked into."""

_SILENT = frozenset(
    "additional_tools compaction compaction_summary context_compaction ghost_snapshot other reasoning".split()
)
_ADDED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|skill|subagent_notification|INSTRUCTIONS)\b"
    r"|# AGENTS\.md instructions)"
)
"""How texts begin that Codex itself puts into a user's message; older versions do not mark them otherwise."""

_LAST_COUNT_BYTES = 512 * 1024
"""Within which the last token count stands, by which a compaction's size is known: behind it come only outputs."""

_IMAGE_TAG = re.compile(r"<image\b[^\n]*>|</image>")
_PREFACE = re.compile(
    r"\AAnother language model started to solve this problem.{0,1000}?analysis:\n", re.DOTALL
)
"""What Codex puts before a summary for the model that reads it."""

_EMBEDDED = re.compile(r"data:([\w.+/-]+);base64,(.+)", re.DOTALL)


def heading(lines: Iterable[bytes]) -> Heading:
    """Return what the first line of a rollout tells."""
    entry = parsed(next(iter(lines), b"")) or {}
    meta = table(entry.get("payload")) if entry.get("type") == "session_meta" else {}
    thread, cwd = word(meta.get("id")), word(meta.get("cwd"))
    source = meta.get("source")
    if meta.get("thread_source") == "subagent" or "subagent" in table(source):
        spawned = table(table(table(source).get("subagent")).get("thread_spawn"))
        parent = word(meta.get("parent_thread_id")) or word(spawned.get("parent_thread_id"))
        return Heading(thread, cwd, parent or word(meta.get("session_id")), agent=thread)
    return Heading(thread, cwd, word(meta.get("forked_from_id")))


class Rollout:
    """Reads one rollout, whose heading says which thread it is; see `items.Format`.

    `own_tools`: what pinfold's tools were asked and answered, too.
    """

    client = NAME
    looks_back_bytes = _LAST_COUNT_BYTES

    def __init__(self, heading: Heading, *, own_tools: bool = False) -> None:
        self.unknown = 0
        self._own_tools = own_tools
        self._thread = heading.conversation or ""
        self._agent = heading.agent
        self._calls: dict[str, Call] = {}
        self._tokens: int | None = None
        self._is_compacting = False
        self._compaction: Compacted | None = None

    @property
    def is_open(self) -> bool:
        """Whether a compaction is under way or waits for its token count, or a call for its output."""
        return self._is_compacting or self._compaction is not None or bool(self._calls)

    def items(self, line: bytes) -> list[Item]:
        """Return what one line says; see `items.Format`."""
        if _BOOKKEEPING.match(line):
            return []
        entry = parsed(line)
        kind = word(entry.get("type")) if entry else None
        if entry is None or kind not in _KNOWN:
            self.unknown += 1
            return []
        payload = table(entry.get("payload"))
        if kind == "response_item":
            return [*self._counted(None), *self._said(payload, entry, line)]
        if kind == "compacted":
            return self._compacted(payload, entry, line)
        if kind == "event_msg" and payload.get("type") == "token_count":
            return self._token_count(payload)
        return []

    def _said(self, payload: Json, entry: Json, line: bytes) -> Iterator[Item]:
        kind = word(payload.get("type")) or ""
        if kind == "message":
            yield from self._message(payload, entry, line)
        elif kind.endswith("_output"):
            yield from self._output(payload, entry, line)
        elif kind.endswith("_call"):
            yield from self._call(kind, payload, entry, line)
        elif kind not in _SILENT:
            self.unknown += 1

    def _message(self, payload: Json, entry: Json, line: bytes) -> Iterator[Spoken]:
        role = payload.get("role")
        if table(entry.get("metadata")).get("compaction_output") is True:
            self._is_compacting = True
        elif role in ("user", "assistant"):
            parts = _own_parts(payload) if role == "user" else rows(payload.get("content"))
            text, pictures = _content(parts)
            if text or pictures:
                if role == "user":
                    self._calls.clear()
                    self._is_compacting = False
                yield self._spoken(entry, line, str(role), text, pictures=pictures)

    def _call(self, kind: str, payload: Json, entry: Json, line: bytes) -> Iterator[Spoken]:
        name, namespace = (
            word(payload.get("name")) or kind.removesuffix("_call"),
            word(payload.get("namespace")),
        )
        tool = f"{namespace}__{name}" if namespace and namespace.startswith("mcp__") else name
        given = _given(payload)
        made, call_id = call(tool, given), word(payload.get("call_id"))
        if call_id:
            self._calls[call_id] = made
        if self._own_tools or not made.own:
            text = rendered(given) or tool
            yield self._spoken(entry, line, "tool_call", text, tool=tool, call_id=call_id, files=made.files)

    def _output(self, payload: Json, entry: Json, line: bytes) -> Iterator[Spoken]:
        call_id = word(payload.get("call_id"))
        made = self._calls.pop(call_id or "", Call())
        output = payload.get("output")
        text, pictures = _content(rows(output) or [_unwrapped(output)])
        if (self._own_tools or not made.own) and (text or pictures):
            tool = made.tool or None
            more = {"call_id": call_id, "ran": made.ran, "files": made.files, "pictures": pictures}
            yield self._spoken(entry, line, "tool_result", text, tool=tool, **more)

    def _compacted(self, payload: Json, entry: Json, line: bytes) -> list[Item]:
        former = self._counted(None)
        name = word(payload.get("window_id")) or self._id(entry, line)
        summary, at = _PREFACE.sub("", word(payload.get("message")) or ""), instant(entry.get("timestamp"))
        self._compaction = Compacted(name, "unknown", summary, at, self._tokens)
        self._is_compacting = False
        self._calls.clear()
        return former

    def _token_count(self, payload: Json) -> list[Item]:
        usage = table(table(payload.get("info")).get("last_token_usage"))
        tokens = count(usage.get("total_tokens"))
        if not self._is_compacting:  # else it counts the request for the summary
            self._tokens = tokens or self._tokens
        return self._counted(tokens)

    def _counted(self, tokens_after: int | None) -> list[Item]:
        """Return the compaction that has been waiting for the count of what it left."""
        if self._compaction is None:
            return []
        done, self._compaction = replace(self._compaction, tokens_after=tokens_after), None
        return [done]

    def _spoken(self, entry: Json, line: bytes, role: str, text: str, **more: Any) -> Spoken:
        at = instant(entry.get("timestamp"))
        return Spoken(self._id(entry, line), role, text, at, agent=self._agent, **more)

    def _id(self, entry: Json, line: bytes) -> str:
        """The line's number in its thread; the model's own ids are not used, since some providers repeat them."""
        ordinal = count(entry.get("ordinal"))
        name = hashlib.sha256(line).hexdigest()[:24] if ordinal is None else str(ordinal)
        return f"{self._thread}:{name}"


def _own_parts(payload: Json) -> list[Any]:
    """Return what of a user's message the user wrote; current versions say what each part is."""
    parts = rows(payload.get("content"))
    kinds = rows(table(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds"))
    if len(kinds) == len(parts):
        return [part for part, kind in zip(parts, kinds, strict=True) if str(kind).startswith("user.")]
    return [part for part in parts if not _ADDED.match(word(table(part).get("text")) or "")]


def _given(payload: Json) -> object:
    """Return a call's input: arguments come as JSON in a string, a script or a patch as it is."""
    for name in ("arguments", "input", "action"):
        given = payload.get(name)
        if name == "arguments" and isinstance(given, str):
            return parsed(given.encode()) or given
        if given is not None:
            return given
    return None


def _unwrapped(output: object) -> object:
    """Return the text of an output, which older versions put into JSON beside its exit status."""
    if isinstance(output, str) and output.startswith('{"output":'):
        return word((parsed(output.encode()) or {}).get("output")) or output
    return table(output).get("content") if isinstance(output, dict) else output


def _content(parts: list[Any]) -> tuple[str, tuple[Picture, ...]]:
    """Return the text and the pictures of a message's or an output's parts."""
    texts = [part if isinstance(part, str) else table(part).get("text") for part in parts]
    said = [text for text in texts if isinstance(text, str) and text and not _IMAGE_TAG.fullmatch(text)]
    links = [_EMBEDDED.fullmatch(word(table(part).get("image_url")) or "") for part in parts]
    return "\n".join(said), tuple(Picture(link[1], link[2]) for link in links if link)
