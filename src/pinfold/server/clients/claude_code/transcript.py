"""What a transcript of Claude Code says. The format is undocumented and moves; seen up to 2.1.332."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pinfold.server.clients.claude_code import NAME
from pinfold.server.clients.claude_code.typed import reported, typed, without_reminders
from pinfold.server.transcripts.calls import Call, call, rendered
from pinfold.server.transcripts.items import Compacted, Heading, Item, Picture, Spoken, answer_id, trigger_of
from pinfold.server.transcripts.lenient import Json, count, instant, parsed, rows, table, word

_REQUESTS = b'{"type":"api-request'
"""How lines begin that repeat what was sent to the model: a third of a transcript's bytes, never looked into."""

_KNOWN = frozenset(
    "agent-color agent-name agent-setting ai-title api-request api-request-blob api-request-resumed"
    " api-request-shape artifact-autoreact-ledger artifact-comment-monitor assistant atis-latch attachment"
    " attribution-snapshot bridge-session content-replacement continued-in cost-state custom-title"
    " data-flow-incomplete data-flow-records derived-from dev-mods ended-by-model file-history-delta"
    " file-history-snapshot fork-context-ref frame-link history-suppression isolation-latch last-prompt memory-mode"
    " mode observer-ref permission-mode pr-link progress queue-operation relocated resume-head-vouch session-owner"
    " summary system tag tools-used user worktree-state".split()
)
_SELF = "pinfold"
_PREFACE = "This session is being continued from a previous conversation"
_EPILOGUE = "\n\nIf you need specific details from before compaction"


def heading(lines: Iterable[bytes]) -> Heading:
    """Return what the first lines of a transcript tell; reads on until the folder is known."""
    session = parent = None
    for line in lines:
        entry = parsed(line) or {}
        session = session or word(entry.get("sessionId"))
        parent = parent or word(table(entry.get("forkedFrom")).get("sessionId"))
        cwd = word(entry.get("cwd"))
        if cwd and (agent := _agent(entry)):
            return Heading(agent, cwd, session, agent)
        if cwd:
            return Heading(session, cwd, parent)
    return Heading(session, None, parent)


class Transcript:
    """Reads one transcript; see `items.Format`. `own_tools`: what pinfold's tools were asked and answered, too."""

    client = NAME
    looks_back_bytes = 0

    def __init__(self, *, own_tools: bool = False) -> None:
        self.unknown = 0
        self._own_tools = own_tools
        self._boundary: Json | None = None
        self._calls: dict[str, Call] = {}
        self._message: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether a compaction waits for its summary or a call for its result."""
        return self._boundary is not None or bool(self._calls)

    def items(self, line: bytes) -> list[Item]:
        """Return what one line says; see `items.Format`."""
        if line.startswith(_REQUESTS):
            return []
        entry = parsed(line)
        if entry is None:
            self.unknown += 1
            return []
        return list(self._items(entry))

    def _items(self, entry: Json) -> Iterator[Item]:
        kind = word(entry.get("type"))
        is_boundary = kind == "system" and entry.get("subtype") == "compact_boundary"
        needs_id = is_boundary or kind in ("user", "assistant")
        if kind not in _KNOWN or (needs_id and not word(entry.get("uuid"))):
            self.unknown += 1
        elif is_boundary:
            yield from self._unsummarized()
            self._boundary = entry
        elif kind == "user":
            yield from self._from_user(entry)
        elif kind == "assistant":
            yield from self._from_assistant(entry)
        elif kind == "attachment":
            yield from _queued(entry)

    def _from_user(self, entry: Json) -> Iterator[Item]:
        if entry.get("isCompactSummary") is True:
            yield self._fold(entry)
            return
        if entry.get("isMeta") is True or entry.get("isVisibleInTranscriptOnly") is True:
            return
        blocks = _blocks(entry)
        answered = list(self._results(entry, blocks))
        yield from answered
        for said in _said(entry, blocks):
            if said.role == "user" and not answered and not said.agent:
                self._calls.clear()
            yield said

    def _from_assistant(self, entry: Json) -> Iterator[Item]:
        message = table(entry.get("message"))
        if entry.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            return
        yield from self._unsummarized()
        self._give_up_calls(entry)
        for number, block in enumerate(_blocks(entry)):
            kind = word(block.get("type")) or ""
            if kind == "text" and (text := word(block.get("text"))):
                yield _spoken(entry, number, "assistant", text)
            elif kind.endswith("tool_use"):
                yield from self._call(entry, number, block)

    def _give_up_calls(self, entry: Json) -> None:
        """Wait no longer for results when the model goes on: it does so with all of them, or they never come.

        A crash or a request sent anew leaves such calls behind. Lines of a sub-agent among the others come before
        the result of the call that began it.
        """
        message = word(table(entry.get("message")).get("id"))
        if message != self._message and _agent(entry) is None:
            self._message = message
            self._calls.clear()

    def _call(self, entry: Json, number: int, block: Json) -> Iterator[Spoken]:
        tool, call_id = word(block.get("name")) or "", word(block.get("id"))
        made = call(tool, block.get("input"))
        if call_id:
            self._calls[call_id] = made
        if self._own_tools or not made.own:
            text = rendered(block.get("input")) or tool
            yield _spoken(
                entry, number, "tool_call", text, tool=tool or None, call_id=call_id, files=made.files
            )

    def _results(self, entry: Json, blocks: list[Json]) -> Iterator[Spoken]:
        outcome = table(entry.get("toolUseResult"))
        is_own = _serves_itself(entry)
        for number, block in enumerate(blocks):
            if not (word(block.get("type")) or "").endswith("tool_result"):
                continue
            call_id = word(block.get("tool_use_id"))
            made = self._calls.pop(call_id or "", Call())
            text, pictures = _content(rows(block.get("content")) or [block.get("content")])
            text = without_reminders(text)
            left_out = (is_own or made.own) and not self._own_tools
            if not left_out and outcome.get("isAsync") is not True and (text or pictures):
                said = _spoken(
                    entry,
                    number,
                    "tool_result",
                    text,
                    tool=made.tool or None,
                    call_id=call_id,
                    ran=made.ran,
                    files=made.files,
                    pictures=pictures,
                )
                answer = _content(rows(outcome.get("content")))[0]
                yield _answered(said, word(outcome.get("agentId")), answer or text)

    def _fold(self, entry: Json) -> Compacted:
        boundary, self._boundary = self._boundary or entry, None
        self._calls.clear()
        return _compacted(boundary, _unwrapped(_content(_blocks(entry))[0]))

    def _unsummarized(self) -> Iterator[Compacted]:
        """A compaction whose summary never came still was one."""
        if self._boundary is not None:
            yield _compacted(self._boundary, "")
            self._boundary = None


def _queued(entry: Json) -> Iterator[Spoken]:
    """What was written while the agent was at work stands in an attachment, and nowhere else."""
    attachment = table(entry.get("attachment"))
    if attachment.get("type") == "queued_command" and word(entry.get("uuid")):
        prompt = attachment.get("prompt")
        yield from _said(entry, [table(part) for part in rows(prompt)] or [{"type": "text", "text": prompt}])


def _said(entry: Json, blocks: list[Json]) -> Iterator[Spoken]:
    """What a person wrote, with the pictures beside it: one message, whatever the number of its blocks."""
    parts = [block for block in blocks if block.get("type") in ("text", "image", "document")]
    text, pictures = _content(parts)
    number = blocks.index(parts[0]) if parts else 0
    if (report := reported(text)) is not None:
        if report.text:
            said = _spoken(entry, number, "tool_result", report.text, call_id=report.call_id)
            yield _answered(said, report.agent, report.text)
        return
    written = [typed(part["text"]) for part in parts if word(part.get("text"))]
    text = "\n".join(part for part in written if part)
    if text or pictures:
        yield _spoken(entry, number, "user", text, pictures=pictures)


def _spoken(entry: Json, number: int, role: str, text: str, **more: Any) -> Spoken:
    uuid = str(entry["uuid"])
    name = f"{uuid}/{number}" if number else uuid
    at, request = instant(entry.get("timestamp")), word(table(entry.get("message")).get("id"))
    return Spoken(name, role, text, at, agent=_agent(entry), request=request, **more)


def _answered(said: Spoken, agent: str | None, answer: str) -> Spoken:
    """Return a call's result, as the answer of the sub-agent whose it is; the client wraps what that one said."""
    if agent is None:
        return said
    return replace(said, external_id=answer_id(agent, answer), text=answer)


def _agent(entry: Json) -> str | None:
    """Return the id of the sub-agent that a line is of; old lines have none and stand among the others."""
    return word(entry.get("agentId")) or "sidechain" if entry.get("isSidechain") is True else None


def _unwrapped(summary: str) -> str:
    """Return a summary without what Claude Code writes around it for the model that reads it."""
    if not summary.startswith(_PREFACE):
        return summary
    _, begins, inner = summary.partition("\nSummary:\n")
    return (inner if begins else summary).partition(_EPILOGUE)[0]


def _compacted(boundary: Json, summary: str) -> Compacted:
    figures = table(boundary.get("compactMetadata"))
    return Compacted(
        str(boundary["uuid"]),
        trigger_of(figures.get("trigger")),
        summary,
        instant(boundary.get("timestamp")),
        count(figures.get("preTokens")),
        count(figures.get("postTokens")),
    )


def _blocks(entry: Json) -> list[Json]:
    content = table(entry.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [table(block) for block in rows(content)]


def _content(blocks: list[Any]) -> tuple[str, tuple[Picture, ...]]:
    """Return the text and the pictures of a message's or a result's content."""
    texts = [block if isinstance(block, str) else table(block).get("text") for block in blocks]
    sources = [table(table(block).get("source")) for block in blocks]
    pictures = [
        Picture(word(source.get("media_type")) or "application/octet-stream", source["data"])
        for source in sources
        if source.get("type") == "base64" and word(source.get("data"))
    ]
    return "\n".join(text for text in texts if isinstance(text, str) and text), tuple(pictures)


def _serves_itself(entry: Json) -> bool:
    """Whether a result came from pinfold, by the name that it gave itself."""
    meta = table(table(entry.get("mcpMeta")).get("_meta"))
    return table(meta.get("io.modelcontextprotocol/serverInfo")).get("name") == _SELF
