"""What Codex's hooks send and take back. Seen up to 0.171.0."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.server.transcripts.calls import call, rendered
from pinfold.server.transcripts.lenient import parsed, rows, table, word

if TYPE_CHECKING:
    from pinfold.server.hooks.occasion import Occasion
    from pinfold.server.hooks.output import Output
    from pinfold.server.transcripts.items import Compacted
    from pinfold.store.results import BriefState
    from pinfold.store.sync import SyncStore

_CUT = re.compile(r"Warning: truncated output \(original token count: (\d{1,12})\)\n")
_CUT_FOR_GOOD = "\n... command output truncated for persistence ...\n"
_LOOK_BACK_BYTES = 4 * 1024 * 1024


BRIEF_BYTES = 9_500
"""Codex cuts the middle out of a hook's text of more than 10,000 bytes."""


def run_of() -> None:
    """Return nothing: every call of a Codex thread names the thread."""


def typed_prompt(occasion: Occasion) -> str:
    """Return what a person wrote of a prompt: Codex also reports what an agent gave its sub-agent to do."""
    return "" if occasion.text("agent_id") else occasion.text("prompt") or ""


def summary_prompt(store: SyncStore, state: BriefState) -> str:
    """Return nothing: Codex adds no hook's text to what it asks its summarizer for."""
    return ""


def told_fold(occasion: Occasion) -> Compacted | None:
    """Return nothing: when Codex tells of a compaction, its rollout holds it."""
    return None


def tool_output(occasion: Occasion) -> Output | None:
    """Return what a tool printed, all that Codex has of it; None for pinfold's own tools."""
    tool, given = occasion.text("tool_name") or "", occasion.payload.get("tool_input")
    text = _text(occasion.payload.get("tool_response"))
    if text is None or call(tool, given).own:
        return None
    from pinfold.server.hooks.output import Output

    cut = _CUT.match(text)
    whole = _from_rollout(occasion) if cut else None
    is_cut = whole is None or _CUT_FOR_GOOD in whole
    label = rendered(given) or tool
    return Output(tool, label, whole or text, int(cut[1]) if cut else None, is_cut=bool(cut) and is_cut)


def _text(response: object) -> str | None:
    if isinstance(response, str):
        return response
    result = table(response)
    if result.get("structuredContent") is not None:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    texts = [table(block).get("text") for block in rows(result.get("content"))]
    return "\n".join(map(str, texts)) if texts and all(isinstance(text, str) for text in texts) else None


def _from_rollout(occasion: Occasion) -> str | None:
    """Return a command's output from the end of the rollout, where up to 64 KiB of it stand."""
    call_id, path = occasion.text("tool_use_id"), occasion.transcript
    if call_id is None or path is None or not os.path.isfile(path):
        return None
    for line in reversed(_last_lines(path)):
        if call_id.encode() not in line or b"aggregated_output" not in line:
            continue
        item = table(table((parsed(line) or {}).get("payload")).get("item"))
        if item.get("id") == call_id:
            return word(item.get("aggregated_output"))
    return None


def _last_lines(path: Path) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _LOOK_BACK_BYTES))
            return file.read().splitlines()
    except OSError:
        return []


def replaced(occasion: Occasion, note: str) -> str:
    """Return what makes Codex show `note` in place of the output.

    Not `decision: block`, which a script in code mode meets as an exception.
    """
    return json.dumps({"continue": False, "stopReason": note}, ensure_ascii=False)
