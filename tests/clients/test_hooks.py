"""What we count on from the clients' hooks. Where one of these fails with a new version, our hooks must follow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

import pytest

from tests.clients.clients import ClaudeCode
from tests.clients.hooks import Hook
from tests.clients.life import ANSWER, FOLDS, OUTPUT, SUMMARY, Life

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]


_LONG = "seq -f"
FOLDED = FOLDS + 2
"""Ten in the long conversation, one when it was resumed, one after the clear."""


def _is_claude(life: Life) -> bool:
    return isinstance(life.kind.client, ClaudeCode)


def _of(life: Life, event: str, **payload: object) -> list[Hook]:
    return [hook for hook in life.hooks if hook.event == event and payload.items() <= hook.payload.items()]


def _only(life: Life, event: str, **payload: object) -> Hook:
    (hook,) = _of(life, event, **payload)
    return hook


def _folds(life: Life) -> Iterator[list[Hook]]:
    """Yield the hooks of each compaction in order, and the first one after it."""
    rest = list(life.hooks)
    while rest := list(dropwhile(lambda hook: hook.event != "PreCompact", rest)):
        count = next(n for n, hook in enumerate(rest) if hook.event in ("PostToolUse", "Stop"))
        yield rest[: count + 1]
        rest = rest[count:]


def test_hooks_of_each_compaction_come_in_one_order(life: Life) -> None:
    claude = ["PreCompact", "SubagentStop", "SessionStart", "PostCompact"]
    codex = ["PreCompact", "PostCompact", "SessionStart"]
    order = claude if _is_claude(life) else codex
    assert [[hook.event for hook in fold[:-1]] for fold in _folds(life)] == [order] * FOLDED
    assert len(_of(life, "SessionStart", source="compact")) == FOLDED
    assert len(_of(life, "PreCompact", trigger="auto")) == FOLDED


def test_summary_can_be_known_when_the_session_starts_again(life: Life) -> None:
    """In Claude Code only the summariser's own end has it by then; in Codex the transcript has."""
    for fold in _folds(life):
        events = {hook.event: hook for hook in fold}
        if _is_claude(life):
            summarised = events["SubagentStop"].payload
            assert SUMMARY in summarised["last_assistant_message"]
            assert summarised["agent_type"] == ""
            assert not Path(summarised["agent_transcript_path"]).exists()
            assert SUMMARY in events["PostCompact"].payload["compact_summary"]
        else:
            assert SUMMARY in _last(events["SessionStart"], '"type":"compacted"')


def _last(hook: Hook, mark: str) -> str:
    return next(line for line in reversed(hook.transcript) if mark in line)


def test_clients_own_figures_are_in_the_transcript_when_the_turn_ends(life: Life) -> None:
    """In Claude Code they may come later than the first tool result after the fold; in Codex they are there at once."""
    ended = _of(life, "Stop")[0]
    mark = '"preTokens":' if _is_claude(life) else '"type":"compacted"'
    assert sum(mark in line for line in ended.transcript) == FOLDS


def test_resumed_conversation_keeps_its_id_and_its_transcript(life: Life) -> None:
    begun, resumed = life.hooks[0], _only(life, "SessionStart", source="resume")
    assert (begun.payload["source"], begun.session) == ("startup", resumed.session)
    assert resumed.payload["transcript_path"] == begun.payload["transcript_path"]
    assert resumed.transcript


def test_clear_begins_another_conversation_in_the_same_process(life: Life) -> None:
    """The server that Claude Code started for the conversation before serves on; its hooks name their process."""
    _, before = _of(life, "SessionStart", source="startup")
    after = _only(life, "SessionStart", source="clear")
    assert before.session != after.session
    if _is_claude(life):
        assert _only(life, "SessionEnd", reason="clear").session == before.session
        assert after.environment["CLAUDE_CODE_SESSION_ID"] == after.session
        assert after.environment["CLAUDE_PID"] == before.environment["CLAUDE_PID"]


def test_long_shell_output_lies_whole_beside_the_hook(life: Life) -> None:
    """The payload holds a part of it: Claude Code names a file, Codex has written it into the transcript."""
    (hook,) = [
        hook for hook in _of(life, "PostToolUse", tool_name="Bash") if "seq -f" in json.dumps(hook.payload)
    ]
    response = hook.payload["tool_response"]
    if _is_claude(life):
        assert OUTPUT.startswith(response["stdout"])
        assert len(response["stdout"]) < len(OUTPUT)
        assert Path(response["persistedOutputPath"]).read_text() == OUTPUT
        return
    assert len(response) < len(OUTPUT)
    item = json.loads(_last(hook, '"CommandExecution"'))["payload"]["item"]
    assert (item["id"], item["aggregated_output"]) == (hook.payload["tool_use_id"], OUTPUT)


def test_end_of_a_sub_agent_brings_its_answer_and_its_transcript(life: Life) -> None:
    (ended,) = [hook for hook in _of(life, "SubagentStop") if hook.payload["agent_type"]]
    assert ended.payload["last_assistant_message"] == ANSWER
    assert ANSWER in Path(ended.payload["agent_transcript_path"]).read_text()
    assert ended.payload["transcript_path"] == life.hooks[0].payload["transcript_path"]
