from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pinfold.server.clients.codex.transcript import Rollout
from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.items import Compacted, Heading, Item, Picture
from tests.server.transcript_samples import (
    ALL,
    CODEX,
    CODEX_AGENT,
    CODEX_FORK,
    CODEX_PARENT,
    CODEX_SCRIPTS,
    format_of,
    items_of,
    lines_of,
    read,
    spoken,
    told,
    waits,
)

THREAD = "01a22a14-2b0d-70d2-9aa6-6ea2a5951392"
RAN = "Wall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:"


def line(kind: str, payload: object, **fields: object) -> bytes:
    return json.dumps(
        {"timestamp": "2026-11-30T01:31:36Z", "type": kind, "payload": payload} | fields
    ).encode()


def item(**payload: object) -> bytes:
    return line("response_item", payload)


def tokens(total: int) -> bytes:
    info = {"last_token_usage": {"total_tokens": total}}
    return line("event_msg", {"type": "token_count", "info": info})


def one(*lines: bytes) -> list[Item]:
    return read(lines, Rollout(Heading("t")))


def test_a_conversation_is_told_in_order_without_what_nobody_said() -> None:
    assert told(items_of(CODEX)) == [
        "user: DECISION: use port 5004 because 3000 is taken.  Carry on.",
        "assistant: I will look.",
        "tool_call view_image: path: /home/anna/shop/dot.png",
        "tool_result view_image:  [image/png]",
        "tool_call exec_command: echo one; echo two >&2",
        f"tool_result exec_command: Chunk ID: 80a8f5\n{RAN}\none\ntwo\n",
        "tool_call exec_command: seq 1 20",
        "tool_result exec_command: REPLACED preview, pointer A1",
        'tool_call mcp__pinfold__update_plan: plan: [{"step":"a","status":"in_progress"}]',
        "tool_result mcp__pinfold__update_plan: unsupported call: mcp__pinfold__update_plan",
        "tool_call exec_command: echo before",
        f"tool_result exec_command: Chunk ID: 3edf34\n{RAN}\nbefore\n",
        "compacted unknown 120020 → 6099",
        "tool_call exec_command: echo after",
        f"tool_result exec_command: Chunk ID: 5c6191\n{RAN}\nafter\n",
        "assistant: All done.",
        "user: Go on after resume.",
        "tool_call exec_command: echo resumed",
        f"tool_result exec_command: Chunk ID: 9c496f\n{RAN}\nresumed\n",
        "assistant: Resumed.",
    ]


def test_every_line_of_real_rollouts_is_known() -> None:
    for path in (path for path in ALL if "rollout" in path.name):
        form = format_of(path)
        read(lines_of(path), form)
        assert (form.unknown, form.is_open) == (0, False)


def test_calls_and_results_keep_their_link_and_their_place_in_the_thread() -> None:
    call, result = spoken(items_of(CODEX))[2:4]
    assert (call.external_id, call.call_id) == (f"{THREAD}:13", "call_000100")
    assert (result.external_id, result.call_id, result.tool) == (f"{THREAD}:16", "call_000100", "view_image")
    assert result.ran == "path: /home/anna/shop/dot.png"
    assert [picture.media_type for picture in result.pictures] == ["image/png"]
    assert result.at == "2026-11-30T01:31:36.172000Z"


def test_ids_differ_though_a_provider_repeats_its_own() -> None:
    ids = [entry.external_id for entry in items_of(CODEX)]
    assert len(set(ids)) == len(ids) == 20
    called = [entry.call_id for entry in spoken(items_of(CODEX)) if entry.role == "tool_call"]
    assert called.count("call_000100") == 2


def test_a_compaction_holds_what_the_model_goes_on_with() -> None:
    (fold,) = [entry for entry in items_of(CODEX) if isinstance(entry, Compacted)]
    assert fold.external_id == "01a22a14-35ab-7b22-8230-b26897b6e119"
    assert fold.summary == "<summary>Work so far was summarised.</summary>"


def test_reading_can_be_taken_up_wherever_nothing_is_open() -> None:
    """The size before a compaction is known only to a reading that saw it counted; it is never another's."""
    lines, form, before = lines_of(CODEX), format_of(CODEX), list[Item]()
    closed = 0
    for number, content in enumerate(lines, 1):
        before += form.items(content)
        if not form.is_open:
            closed += 1
            found = before + read(lines[number:], format_of(CODEX))
            assert {fold.tokens_before for fold in found if isinstance(fold, Compacted)} <= {120020, None}
            assert _unsized(found) == _unsized(items_of(CODEX))
    assert closed > len(lines) / 2


def _unsized(items: list[Item]) -> list[Item]:
    return [replace(entry, tokens_before=None) if isinstance(entry, Compacted) else entry for entry in items]


def test_a_compaction_is_open_until_its_tokens_are_counted_or_the_thread_goes_on() -> None:
    compacted = line("compacted", {"message": "S.", "window_id": "w"})
    form = Rollout(Heading("t"))
    read([tokens(900), compacted], form)
    assert waits(form)
    assert told(form.items(tokens(70))) == ["compacted unknown 900 → 70"]
    assert not waits(form)
    said = one(
        compacted, item(type="message", role="assistant", content=[{"type": "output_text", "text": "On."}])
    )
    assert told(said) == ["compacted unknown None → None", "assistant: On."]


def test_a_fork_holds_only_what_was_said_in_it_and_names_its_origin() -> None:
    found = found_at(CODEX_FORK)
    assert found is not None
    assert found.heading == Heading("01a22a17-70c9-73e1-a913-b5e6f0507820", "/home/anna/shop", parent=THREAD)
    assert told(items_of(CODEX_FORK))[0] == "user: Go on in a fork."


def test_a_sub_agents_words_bear_its_id_and_its_heading_names_whom_it_works_for() -> None:
    found, parent = found_at(CODEX_AGENT), found_at(CODEX_PARENT)
    assert found is not None
    assert parent is not None
    agent = "01a22a18-990a-71b3-ad07-fea348c710b3"
    assert found.heading == Heading(agent, "/home/anna/shop", parent=parent.heading.conversation, agent=agent)
    assert [(entry.agent, entry.text) for entry in spoken(items_of(CODEX_AGENT))] == [(agent, "Look around.")]
    assert {entry.agent for entry in spoken(items_of(CODEX_PARENT))} == {None}


def test_tools_called_from_scripts_are_told_but_pinfolds_own() -> None:
    assert [entry for entry in told(items_of(CODEX_SCRIPTS)) if entry.startswith("tool_call")] == [
        "tool_call exec: text(await tools.exec_command({cmd: 'echo coded'}));",
        "tool_call exec: text(await tools.apply_patch(`*** Begin Patch\n*** Add File: hello.txt\n+hi\n"
        "*** End Patch`));",
    ]
    assert [entry.files for entry in spoken(items_of(CODEX_SCRIPTS)) if entry.files] == [("hello.txt",)] * 2


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (
            {"type": "function_call", "name": "shell", "arguments": '{"command":["bash","-lc","ls -l"]}'},
            "ls -l",
        ),
        ({"type": "function_call", "name": "shell", "arguments": '{"command":["git","log"]}'}, "git log"),
        ({"type": "function_call", "name": "shell", "arguments": "{torn"}, "{torn"),
        ({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls", "-l"]}}, "ls -l"),
        ({"type": "web_search_call", "action": {"type": "search", "query": "q"}}, "type: search\nquery: q"),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch"}, "*** Begin Patch"),
    ],
)
def test_calls_of_every_kind_read_as_they_were_made(payload: dict[str, Any], text: str) -> None:
    assert [entry.text for entry in spoken(one(item(**payload)))] == [text]


def test_outputs_of_every_version_read_as_they_were_printed() -> None:
    old = json.dumps({"output": "total 4\n", "metadata": {"exit_code": 0}})
    outputs = [
        old,
        {"content": "total 5", "success": True},
        "total 6",
        [{"type": "input_text", "text": "total 7"}],
    ]
    read_back = [one(item(type="function_call_output", call_id="c", output=output)) for output in outputs]
    texts = [entry.text for items in read_back for entry in spoken(items)]
    assert texts == ["total 4\n", "total 5", "total 6", "total 7"]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/home/anna</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /home/anna\n\nBe brief.",
        "<user_instructions>\n\nBe brief.\n\n</user_instructions>",
    ],
)
def test_what_older_versions_put_into_a_users_message_unmarked_is_left_out(text: str) -> None:
    content = [{"type": "input_text", "text": text}]
    assert one(item(type="message", role="user", content=content)) == []
    asked = [*content, {"type": "input_text", "text": "Why?"}]
    assert told(one(item(type="message", role="user", content=asked))) == ["user: Why?"]


def test_a_line_without_a_number_is_known_by_its_content() -> None:
    said = item(type="message", role="assistant", content=[{"type": "output_text", "text": "Yes."}])
    (first,), (again,) = one(said), one(said)
    assert first == again
    assert first.external_id.startswith("t:")


def test_pictures_come_out_of_their_addresses() -> None:
    content = [{"type": "input_image", "image_url": "data:image/jpeg;base64,AAAA"}, {"type": "input_image"}]
    (said,) = spoken(one(item(type="message", role="user", content=content)))
    assert said.pictures == (Picture("image/jpeg", "AAAA"),)
