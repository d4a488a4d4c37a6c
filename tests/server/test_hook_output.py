"""PostToolUse: long output is put behind a pointer, whole, and each client takes the replacement for the output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from pinfold.context.tokens import count
from pinfold.server.own_command import command_name
from tests.server.hooking import Client, complained
from tests.server.peer import PATIENCE_S

BUILD = {"tool_name": "Bash", "tool_input": {"command": "make -j2 build"}, "tool_use_id": "toolu_01"}
MEMORY = {"tool_name": "mcp__mem__dump", "tool_input": {"id": 3}, "tool_use_id": "toolu_02"}
LONG = "\n".join(f"line {number} of the output, 数据库 🎉" for number in range(3_000))
CUT = f"The client had cut it in the middle before; `{command_name()} run -- COMMAND` keeps all"


def shell(stdout: str, stderr: str = "", **more: object) -> dict[str, object]:
    return {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False, **more}


def shown(answer: Any) -> Any:
    """Return what Claude Code shows in place of the output."""
    specific = answer["hookSpecificOutput"]
    assert answer.keys() == {"hookSpecificOutput"}
    assert specific.keys() == {"hookEventName", "updatedToolOutput"}
    assert specific["hookEventName"] == "PostToolUse"
    return specific["updatedToolOutput"]


def test_a_long_command_of_claude_code_is_kept_whole_and_replaced_in_its_own_shape(claude: Client) -> None:
    answer = shown(claude.replaced(**BUILD, tool_response=shell(LONG, "error: the build failed")))
    note = answer.pop("stdout")
    assert answer == {"stderr": "", "interrupted": False, "isImage": False}
    assert note.startswith("pinfold keeps this output as A1: 3,001 lines, ")
    assert "Lines with errors or warnings: 1, first at A1#L3001" in note
    assert len(note) < 2_000
    assert CUT not in note
    assert claude.kept(1).decode() == f"{LONG}\nerror: the build failed"
    assert "A1  make -j2 build" in claude.hook("session-start", source="resume")


def test_a_long_mcp_result_of_claude_code_stays_a_text_or_blocks_as_it_was(claude: Client) -> None:
    note = shown(claude.replaced(**MEMORY, tool_response=LONG))
    assert note.startswith("pinfold keeps this output as A1: ")
    blocks = [{"type": "text", "text": LONG}, {"type": "text", "text": "the end"}]
    (block,) = shown(claude.replaced(**MEMORY, tool_response=blocks))
    assert block["type"] == "text"
    assert block["text"].startswith("pinfold keeps this output as A2: ")
    assert claude.kept(1).decode() == LONG
    assert claude.kept(2).decode() == f"{LONG}\nthe end"


def test_what_a_sub_agent_meets_is_kept_and_not_listed_in_its_parents_brief(either: Client) -> None:
    answer = either.replaced(
        **BUILD, tool_response=response_of(either, LONG), agent_id="a0d65b25", agent_type="general-purpose"
    )
    assert "A1" in json.dumps(answer)
    assert either.kept(1).decode() == LONG
    assert "make -j2 build" not in either.hook("session-start", source="resume")


def test_output_that_claude_code_put_into_a_file_is_kept_from_there_byte_for_byte(claude: Client) -> None:
    printed = b"\xff\x00\x1b[31mred\x1b[0m\r\n" * 3_000 + "half 数".encode()[:-1]
    file = claude.folder / "bxnaewc1p.txt"
    file.write_bytes(printed)
    part = printed.decode("utf-8", "replace")[:30_000]
    response = shell(part, persistedOutputPath=str(file), persistedOutputSize=len(printed))
    note = shown(claude.replaced(**BUILD, tool_response=response))["stdout"]
    assert CUT not in note
    assert claude.kept(1) == printed
    done = subprocess.run(
        [sys.executable, "-m", "pinfold", "show", "A1"],
        env=claude.environment(),
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert done.stdout == printed


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "\0"])
def test_where_that_file_cannot_be_read_the_part_is_kept_and_said_to_be_one(
    claude: Client, kind: str
) -> None:
    file = claude.folder / kind
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    response = shell(LONG[:30_000], persistedOutputPath=str(file), persistedOutputSize=43_893)
    assert CUT in shown(claude.replaced(**BUILD, tool_response=response))["stdout"]
    assert claude.kept(1).decode() == LONG[:30_000]


@pytest.mark.parametrize("limit", [6_000, 150])
def test_the_limit_is_met_to_the_token(either: Client, limit: int) -> None:
    variables = {} if limit == 6_000 else {"PINFOLD_SPILL_TOKENS": str(limit)}
    for tokens in (limit, limit + 1):
        text = " word" * tokens
        assert count(text) == tokens
        answer = either.replaced(**BUILD, tool_response=response_of(either, text), variables=variables)
        assert (answer is None) == (tokens == limit)


def response_of(client: Client, text: str) -> object:
    return shell(text) if client.name == "claude" else text


def test_a_limit_that_is_no_number_is_told_and_output_left_alone(claude: Client) -> None:
    event = json.dumps(claude.payload(**BUILD, tool_response=shell("short"))).encode()
    done = claude.run("post-tool-use", event, PINFOLD_SPILL_TOKENS="lots")
    assert "PINFOLD_SPILL_TOKENS is not a number of tokens." in complained(done)
    assert done.stdout == b""


@pytest.mark.parametrize(
    "fields",
    [
        {**BUILD, "tool_response": shell("hi")},
        {**BUILD, "tool_response": shell(LONG, isImage=True)},
        {**BUILD, "tool_input": {"command": "pinfold show A1"}, "tool_response": shell(LONG)},
        {"tool_name": "mcp__plugin_pinfold_pinfold__fetch_pointer", "tool_response": LONG},
        {"tool_name": "Read", "tool_response": {"type": "text", "file": {"content": LONG}}},
        {"tool_name": "Agent", "tool_response": {"content": [{"type": "text", "text": LONG}]}},
        {**MEMORY, "tool_response": [{"type": "text", "text": LONG}, {"type": "image", "source": {}}]},
        {**MEMORY, "tool_response": []},
        {**MEMORY, "tool_response": None, "padding": LONG},
        {"tool_response": {"stdout": [LONG], "stderr": 5}},
        {**BUILD, "tool_input": [[[LONG]]], "tool_response": shell("hi")},
    ],
    ids="short image show own read agent picture empty none shapes input".split(),
)
def test_what_is_short_or_not_to_be_replaced_stays_and_leaves_no_store_behind(
    claude: Client, fields: dict[str, Any]
) -> None:
    assert claude.replaced(**fields) is None
    assert not claude.home.exists()


def test_a_raised_limit_holds_for_what_was_printed_and_not_for_what_is_left_of_it(
    claude: Client, codex: Client
) -> None:
    file = claude.folder / "bxnaewc1p.txt"
    file.write_text(LONG)
    response = shell(LONG[:30_000], persistedOutputPath=str(file), persistedOutputSize=43_893)
    variables = {"PINFOLD_SPILL_TOKENS": str(file.stat().st_size)}
    assert claude.replaced(**BUILD, tool_response=response, variables=variables) is None
    file.write_text(f"{LONG}.")
    assert claude.replaced(**BUILD, tool_response=response, variables=variables) is not None
    variables = {"PINFOLD_SPILL_TOKENS": "90000"}
    assert codex.replaced(**BUILD, tool_response=cut(90_000), variables=variables) is None
    assert codex.replaced(**BUILD, tool_response=cut(90_001), variables=variables) is not None


def test_secrets_in_output_are_not_kept_and_odd_characters_are(claude: Client) -> None:
    token = f"ghp_{'a1B2' * 9}"
    odd = "\x00\x1b]0;title\x07 \u202e \ud83d alone "
    text = f"{odd}{token}\n" + LONG
    (shown(claude.replaced(**MEMORY, tool_response=text)))
    kept = claude.kept(1).decode()
    assert kept.startswith(f"{odd.replace(chr(0xD83D), chr(0xFFFD))}[redacted:")
    assert kept.endswith(LONG)
    assert all(token.encode() not in file.read_bytes() for file in claude.store_folder.iterdir())


def test_output_above_the_largest_artifact_stays_as_it_is(claude: Client) -> None:
    given = claude.payload(**MEMORY, tool_response=LONG)
    done = claude.run("post-tool-use", json.dumps(given).encode(), PINFOLD_MAX_ARTIFACT_BYTES="1000")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"the limit is 1,000" in done.stderr


def test_a_long_command_of_codex_is_replaced_by_what_the_turn_goes_on_with(codex: Client) -> None:
    answer = codex.replaced(**BUILD, turn_id="t1", tool_response=LONG)
    assert answer.keys() == {"continue", "stopReason"}
    assert answer["continue"] is False
    assert answer["stopReason"].startswith("pinfold keeps this output as A1: 3,000 lines, ")
    assert codex.kept(1).decode() == LONG


def cut(tokens: int) -> str:
    heading = f"Warning: truncated output (original token count: {tokens})\nTotal output lines: 3000\n\n"
    return f"{heading}{LONG[:6_000]}…{tokens - 3_000} tokens truncated…{LONG[-6_000:]}"


def executed(output: str, call_id: str = "toolu_01") -> dict[str, object]:
    item = {"type": "CommandExecution", "id": call_id, "aggregated_output": output, "exit_code": 0}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}


def test_what_codex_cut_out_of_a_commands_output_is_taken_from_its_rollout(codex: Client) -> None:
    other = {"type": "response_item", "payload": {"type": "message", "content": "toolu_01"}}
    codex.write(executed("another one's", "exec-7"), executed(LONG), other)
    note = codex.replaced(**BUILD, tool_response=cut(27_224))["stopReason"]
    assert CUT not in note
    assert codex.kept(1).decode() == LONG


def test_what_codex_has_cut_for_good_is_kept_and_said_to_be_a_part(codex: Client) -> None:
    parts = f"{LONG}\n\n... command output truncated for persistence ...\n\n{LONG}"
    codex.write(executed(parts))
    assert CUT in codex.replaced(**BUILD, tool_response=cut(90_000))["stopReason"]
    assert codex.kept(1).decode() == parts


@pytest.mark.parametrize("rollout", ["missing", "unfit", "folder", "pipe"])
def test_without_the_rollout_what_codex_shows_is_kept_as_a_part(codex: Client, rollout: str) -> None:
    if rollout == "unfit":
        codex.transcript.write_bytes(b'"toolu_01" aggregated_output\n\xff{"payload": [{"id": "toolu_01"}]}\n')
    elif rollout == "folder":
        codex.transcript.mkdir()
    elif rollout == "pipe":
        os.mkfifo(codex.transcript)
    assert CUT in codex.replaced(**BUILD, tool_response=cut(27_224))["stopReason"]
    assert codex.kept(1).decode() == cut(27_224)


def test_what_codex_cut_below_the_limit_stays(codex: Client) -> None:
    assert codex.replaced(**BUILD, tool_response=cut(6_000)) is None


def test_a_long_mcp_result_of_codex_is_what_its_model_would_read(codex: Client) -> None:
    content = [{"type": "text", "text": LONG}, {"type": "text", "text": "the end"}]
    result = {"content": content, "structuredContent": None, "isError": False}
    assert "A1" in codex.replaced(**MEMORY, tool_response=result)["stopReason"]
    structured = {"content": content, "structuredContent": {"rows": [LONG]}}
    assert "A2" in codex.replaced(**MEMORY, tool_response=structured)["stopReason"]
    assert codex.kept(1).decode() == f"{LONG}\nthe end"
    assert json.loads(codex.kept(2)) == {"rows": [LONG]}
    with_picture = {"content": [*content, {"type": "image", "data": "aGk="}]}
    assert codex.replaced(**MEMORY, tool_response=with_picture) is None
    own = {"tool_name": "mcp__pinfold__search_history", "tool_response": result}
    assert codex.replaced(**own) is None
