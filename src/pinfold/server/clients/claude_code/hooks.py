"""What Claude Code's hooks send and take back. Seen up to 2.1.332."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinfold.server.ancestry import name_of
from pinfold.server.transcripts.lenient import table, word

if TYPE_CHECKING:
    from pinfold.server.hooks.occasion import Occasion
    from pinfold.server.hooks.output import Output
    from pinfold.server.transcripts.items import Compacted
    from pinfold.store.results import BriefState
    from pinfold.store.sync import SyncStore

_AGREED = (
    "The pins above stand outside of the conversation and are shown again after it is summarized; a summary that"
    " names them does so with these values.\n"
)


BRIEF_BYTES = None
"""Claude Code counts characters: it cuts a hook's text behind 10,000."""


def run_of() -> str | None:
    """Return the name of the Claude Code that this hook belongs to."""
    number = os.environ.get("CLAUDE_PID", "")
    return name_of(int(number)) if number.isascii() and number.isdigit() else None


def typed_prompt(occasion: Occasion) -> str:
    """Return what a person wrote of a prompt: Claude Code also reports the end of a background task as one."""
    from pinfold.server.clients.claude_code.typed import typed

    return "" if occasion.text("agent_id") else typed(occasion.text("prompt") or "")


def summary_prompt(store: SyncStore, state: BriefState) -> str:
    """Return the pins, which Claude Code adds to what it asks its summarizer for; nothing without pins."""
    if not state.pins:
        return ""
    from pinfold.context.brief import Budget, render_brief

    pins_only = replace(state, checkpoint=None, closed=(), artifacts=(), artifact_count=0, fold=None)
    return render_brief(pins_only, store.fence, Budget(1_500, 6_000)).text + _AGREED


def told_fold(occasion: Occasion) -> Compacted | None:
    """Return the compaction that an event tells of before the transcript does.

    The summarizer is a fork of the agent: it has no type and leaves no transcript.
    """
    summary = occasion.text("compact_summary")
    if occasion.event == "subagent-stop" and _is_summarizer(occasion):
        summary = occasion.text("last_assistant_message")
    if summary is None:
        return None
    from pinfold.server.transcripts.items import Compacted, trigger_of

    digest = hashlib.sha256(summary.encode("utf-8", "replace")).hexdigest()[:16]
    name = occasion.text("agent_id") or f"{occasion.text('prompt_id')}:{digest}"
    key = f"told:{occasion.conversation}:{name}"
    return Compacted(key, trigger_of(occasion.text("trigger")), _inner(summary))


def _inner(summary: str) -> str:
    """Return what stands between the tags that a summarizer is asked for; all of it where there are none."""
    _, begins, rest = summary.partition("<summary>")
    inner, ends, _ = rest.partition("</summary>")
    return inner.strip() if begins and ends else summary


def _is_summarizer(occasion: Occasion) -> bool:
    """Whether a fork of the agent wrote a summary; it is asked for tags that nobody else writes."""
    if occasion.payload.get("agent_type") != "" or "<summary>" not in (
        occasion.text("last_assistant_message") or ""
    ):
        return False
    path = occasion.path("agent_transcript_path")
    return path is None or not os.path.exists(path)


def tool_output(occasion: Occasion) -> Output | None:
    """Return what a tool printed, None for a tool whose output is not to be replaced.

    Those are pinfold's own, whose replies lead to what is stored already, and those that read or change a file,
    whose output is in the file.
    """
    from pinfold.server.transcripts.calls import call, rendered

    tool, given = occasion.text("tool_name") or "", occasion.payload.get("tool_input")
    response = occasion.payload.get("tool_response")
    text = _text(response)
    if text is None or call(tool, given).own:
        return None
    from pinfold.server.hooks.output import Output

    kept = word(table(response).get("persistedOutputPath"))
    path = Path(kept) if kept is not None and occasion.may_read(kept) else None
    return Output(tool, rendered(given) or tool, text, path=path, is_cut=kept is not None and path is None)


def _text(response: object) -> str | None:
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        texts = [table(block).get("text") for block in response]
        is_text = all(isinstance(text, str) for text in texts)
        return "\n".join(map(str, texts)) if texts and is_text else None
    shell = table(response)
    if not isinstance(shell.get("stdout"), str) or shell.get("isImage") is True:
        return None
    errors = word(shell.get("stderr"))
    return f"{shell['stdout']}\n{errors}" if errors else str(shell["stdout"])


def replaced(occasion: Occasion, note: str) -> str:
    """Return what makes Claude Code show `note` in place of the output: it has to have the output's own shape."""
    response = occasion.payload.get("tool_response")
    shown: Any = note
    if isinstance(response, list):
        shown = [{"type": "text", "text": note}]
    elif isinstance(response, dict):
        interrupted = response.get("interrupted") is True
        shown = {"stdout": note, "stderr": "", "interrupted": interrupted, "isImage": False}
    specific = {"hookEventName": "PostToolUse", "updatedToolOutput": shown}
    return json.dumps({"hookSpecificOutput": specific}, ensure_ascii=False)
