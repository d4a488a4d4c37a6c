from __future__ import annotations

import json
from typing import Any

import pytest

from pinfold.server.clients.claude_code.transcript import Transcript
from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.items import Compacted, Heading, Item, Picture, Spoken
from tests.server.transcript_samples import (
    CLAUDE,
    CLAUDE_AGENT,
    CLAUDE_CLEARED,
    CLAUDE_FORK,
    CLAUDE_PROMPTS,
    format_of,
    items_of,
    lines_of,
    read,
    spoken,
    told,
    waits,
)

PIXEL = Picture(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
)


def user(content: object, **fields: object) -> bytes:
    return _line("user", {"role": "user", "content": content}, fields)


def assistant(content: object, **fields: object) -> bytes:
    return _line("assistant", {"role": "assistant", "content": content}, fields)


def tool_use(call_id: str, name: str, **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def tool_result(call_id: str, content: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def boundary(uuid: str) -> bytes:
    entry = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid,
        "compactMetadata": {"trigger": "auto"},
    }
    return json.dumps(entry).encode()


def _line(kind: str, message: object, fields: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "uuid": "u", "message": message} | fields).encode()


def one(line: bytes) -> list[Item]:
    return Transcript().items(line)


def test_a_conversation_is_told_in_order_without_what_nobody_said() -> None:
    assert told(items_of(CLAUDE)) == [
        "user: DECISION: use port 5004 because 3000 is taken.  Carry on.",
        "assistant: I will look at the picture.",
        "tool_call Read: file_path: /home/anna/shop/dot.png",
        "tool_result Read:  [image/png]",
        "tool_call Bash: echo one; echo two >&2",
        "tool_result Bash: one\ntwo",
        "tool_call Bash: seq 1 20",
        "tool_result Bash: REPLACED preview, pointer A1",
        "tool_call Bash: ls",
        "tool_call Bash: false",
        "tool_result Bash: Exit code 1",
        "tool_result Bash: dot.png",
        "tool_call Agent: description: find things\nprompt: Look around.\nsubagent_type: general-purpose",
        "tool_call Bash: echo from the sub-agent",
        "tool_result Bash: from the sub-agent",
        "tool_result: The sub-agent's answer is 42.",
        "tool_call Write: file_path: /home/anna/shop/new.txt\ncontent: hello\n",
        "tool_result Write: Claude requested permissions to write to /home/anna/shop/new.txt, "
        "but you haven't granted it yet.",
        "tool_call Bash: echo before",
        "tool_result Bash: before",
        "compacted auto 120022 → 2892",
        "tool_call Bash: echo after",
        "tool_result Bash: after",
        "assistant: All done.",
        "user: Go on after resume.",
        "tool_call Bash: echo resumed",
        "tool_result Bash: resumed",
        "assistant: Resumed.",
        "compacted manual 1020 → 2784",
        "user: /compact keep the port",
    ]


def test_every_line_of_a_real_transcript_is_known() -> None:
    form = format_of(CLAUDE)
    read(lines_of(CLAUDE), form)
    assert (form.unknown, form.is_open) == (0, False)


def test_results_keep_their_link_their_tool_and_the_files_of_their_call() -> None:
    call, result = spoken(items_of(CLAUDE))[2:4]
    assert (call.external_id, call.call_id, call.files) == (
        "043df264-15a4-43a7-b113-3de6e4799d99",
        "toolu_000100",
        ("/home/anna/shop/dot.png",),
    )
    assert result == Spoken(
        external_id="1406a259-0893-4a7b-ad77-1412f9052fde",
        role="tool_result",
        text="",
        at="2026-11-30T01:31:18.257000Z",
        tool="Read",
        call_id="toolu_000100",
        ran="file_path: /home/anna/shop/dot.png",
        files=("/home/anna/shop/dot.png",),
        pictures=(PIXEL,),
    )
    answer = next(item for item in spoken(items_of(CLAUDE)) if "answer is 42" in item.text)
    assert answer.call_id == "toolu_000700"


def test_a_compaction_is_named_by_its_boundary_and_holds_what_the_model_goes_on_with() -> None:
    first, _ = [item for item in items_of(CLAUDE) if isinstance(item, Compacted)]
    assert first.external_id == "d7fec437-8436-416b-9fa4-1a31f4b5dd7a"
    assert first.at == "2026-11-30T01:31:20.010000Z"
    assert first.summary == "Work so far was summarised."


def test_reading_can_be_taken_up_wherever_nothing_is_open() -> None:
    for path in (CLAUDE, CLAUDE_PROMPTS, CLAUDE_FORK):
        lines, whole, form = lines_of(path), items_of(path), Transcript()
        before: list[Item] = []
        closed = 0
        for number, line in enumerate(lines, 1):
            before += form.items(line)
            if not form.is_open:
                closed += 1
                assert before + read(lines[number:], Transcript()) == whole
        assert closed > len(lines) / 2


def test_a_place_between_a_boundary_and_its_summary_is_open() -> None:
    form = Transcript()
    form.items(boundary("b"))
    assert waits(form)
    form.items(b'{"type":"attachment","uuid":"a","attachment":{"type":"date"}}')
    assert waits(form)
    summary = user("The summary.", uuid="s", isCompactSummary=True)
    assert form.items(summary) == [Compacted("b", "auto", "The summary.")]
    assert not waits(form)
    assert one(summary) == [Compacted("s", "unknown", "The summary.")]


@pytest.mark.parametrize("said", [None, 7, {}, "automatic", "auto\nP9  obey", "x" * 5_000])
def test_a_trigger_that_nobody_knows_is_unknown(said: object) -> None:
    entry = json.loads(boundary("b")) | {"compactMetadata": {"trigger": said}}
    form = Transcript()
    form.items(json.dumps(entry).encode())
    assert form.items(user("Kept.", isCompactSummary=True)) == [Compacted("b", "unknown", "Kept.")]


def test_a_compaction_whose_summary_never_came_is_told_all_the_same() -> None:
    form = Transcript()
    form.items(boundary("b"))
    said = form.items(assistant([{"type": "text", "text": "On."}], uuid="a"))
    assert told(said) == ["compacted auto None → None", "assistant: On."]


def test_a_call_without_a_result_is_waited_for_until_the_model_goes_on() -> None:
    def says(message: str, *blocks: object, **fields: object) -> bytes:
        return _line("assistant", {"role": "assistant", "id": message, "content": blocks}, fields)

    form = Transcript()
    form.items(says("m1", tool_use("t1", "Bash", command="make")))
    form.items(says("m1", tool_use("t2", "Agent", prompt="look")))
    form.items(user([tool_result("t1", "done")]))
    form.items(says("m2", {"type": "text", "text": "looking"}, isSidechain=True, agentId="a1"))
    assert waits(form)
    assert isinstance(form.items(user([tool_result("t2", "found")]))[0], Spoken)
    assert not waits(form)
    form.items(says("m3", tool_use("t3", "Bash", command="make")))
    assert waits(form)
    form.items(says("m4", {"type": "text", "text": "on we go"}))
    assert not waits(form)


def test_a_call_is_open_until_its_result_or_the_next_prompt() -> None:
    form = Transcript()
    form.items(assistant([tool_use("t1", "Bash", command="make"), tool_use("t2", "Bash", command="ls")]))
    form.items(user([tool_result("t1", "made")]))
    assert waits(form)
    form.items(user([tool_result("t2", "listed")]))
    assert not waits(form)
    form.items(assistant([tool_use("t3", "Bash", command="killed")]))
    assert waits(form)
    form.items(user("Go on."))
    assert not waits(form)


def test_a_sub_agents_words_bear_its_id_and_its_heading_names_the_call_that_began_it() -> None:
    assert {item.agent for item in spoken(items_of(CLAUDE_AGENT))} == {"a88a9ff27327c5a42"}
    found = found_at(CLAUDE_AGENT)
    assert found is not None
    assert found.heading == Heading(
        conversation="a88a9ff27327c5a42",
        cwd="/home/anna/shop",
        parent="951ca3bd-09cb-4eca-82aa-7367821b0a84",
        agent="a88a9ff27327c5a42",
        call_id="toolu_000700",
    )


def test_a_fork_repeats_what_was_said_under_the_same_ids() -> None:
    known = {item.external_id for item in items_of(CLAUDE)}
    fork = items_of(CLAUDE_FORK)
    assert [item.external_id in known for item in fork] == [True] * 10 + [False] * 4
    assert told(fork)[10:] == [
        "user: Go on in a fork.",
        "tool_call Bash: echo resumed",
        "tool_result Bash: resumed",
        "assistant: Resumed.",
    ]


def test_prompts_are_found_wherever_they_were_typed() -> None:
    prompts = [item for item in spoken(items_of(CLAUDE_PROMPTS)) if item.role == "user"]
    assert [(prompt.text, prompt.pictures) for prompt in prompts] == [
        ("First question.", ()),
        ("Second, while busy: use 250 ms.", ()),
        ("See this picture.", (PIXEL,)),
        ("/fix the port 5004", ()),
    ]
    assert told(items_of(CLAUDE_CLEARED)) == ["user: After clear \ufffd lone", "assistant: Fourth."]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("<system-reminder>\nA note.\n</system-reminder>", ""),
        ("Do it.\n\n<system-reminder>\nA note.\n</system-reminder>\n", "Do it."),
        ("What does <system-reminder> mean?", "What does <system-reminder> mean?"),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", ""),
        (
            "<command-message>x</command-message><command-name>/x</command-name><command-args>a b</command-args>",
            "/x a b",
        ),
        ("<local-command-stdout>Compacted</local-command-stdout>", ""),
        ("<ide_selection>line 3</ide_selection>", ""),
        ("<bash-input>ls</bash-input>", "! ls"),
        ("[Request interrupted by user for tool use]", ""),
        ("<b>Bold</b>", "<b>Bold</b>"),
        ("  indented\n", "  indented\n"),
    ],
)
def test_of_a_persons_text_only_what_the_person_wrote_is_kept(typed: str, kept: str) -> None:
    expected = [f"user: {kept}"] if kept else []
    assert told(one(user(typed))) == expected
    assert told(one(user([{"type": "text", "text": typed}]))) == expected


def test_output_of_a_persons_own_command_is_a_result() -> None:
    line = user("<bash-stdout>two\nfiles</bash-stdout><bash-stderr>one error</bash-stderr>")
    assert told(one(line)) == ["tool_result: two\nfiles\none error"]


def test_a_message_of_several_blocks_is_one_and_its_results_are_numbered() -> None:
    text = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    assert told(one(user(text))) == ["user: One.\nTwo."]
    results = one(
        user([tool_result("a", "first"), tool_result("b", [{"type": "text", "text": "second"}]), *text])
    )
    assert [item.external_id for item in results] == ["u", "u/1", "u/2"]


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isVisibleInTranscriptOnly": True},
        {"isApiErrorMessage": True},
        {"message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No response."}]}},
    ],
)
def test_what_the_client_says_in_anothers_name_is_left_out(fields: dict[str, Any]) -> None:
    write = user if "isMeta" in fields or "isVisibleInTranscriptOnly" in fields else assistant
    assert one(write([{"type": "text", "text": "Noise."}], **fields)) == []


@pytest.mark.parametrize(
    "call",
    [
        tool_use("t", "mcp__pinfold__search_history", query="port"),
        tool_use("t", "mcp__plugin_pinfold_pinfold__pin_decision", text="x", why="y"),
        tool_use("t", "ReadMcpResourceTool", server="pinfold", uri="pinfold://P1"),
        tool_use("t", "Bash", command="pinfold show A1"),
    ],
)
def test_what_pinfold_answered_does_not_come_back_as_history(call: dict[str, Any]) -> None:
    form = Transcript()
    assert form.items(assistant([call])) == []
    assert form.items(user([tool_result("t", "P1 | use port 5004")])) == []
    other = tool_use("t", "mcp__notes__search_history", query="port")
    assert told(read([assistant([other]), user([tool_result("t", "found")])], form)) == [
        "tool_call mcp__notes__search_history: query: port",
        "tool_result mcp__notes__search_history: found",
    ]


def test_pinfold_under_another_name_is_known_by_its_own() -> None:
    meta = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "pinfold"}}}
    assert one(user([tool_result("t", "P1")], mcpMeta=meta)) == []
