"""SubagentStop: what a sub-agent came to is part of its parent's history, how it got there is kept aside."""

from __future__ import annotations

import os

import pytest

from pinfold.store.commands import SearchHistory
from tests.server.hooking import Client, Payload, assistant, user
from tests.server.transcript_samples import CODEX_AGENT

AGENT = "a0d65b251e1ede5f9"
ANSWER = "SUBANSWER the needle is 42"


def explored(client: Client) -> str:
    """Write a sub-agent's transcript where Claude Code does; return its path."""
    folder = client.transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    marks = {"isSidechain": True, "agentId": AGENT, "sessionId": client.session, "cwd": str(client.project)}
    found = assistant("x2", "xylograph: 3 files look promising")
    main, client.transcript = client.transcript, folder / f"agent-{AGENT}.jsonl"
    client.write(user("x1", "Find the xylograph.", **marks), found | marks, assistant("x3", ANSWER) | marks)
    path, client.transcript = client.transcript, main
    return str(path)


def ended(client: Client, path: str | None) -> None:
    said = client.hook(
        "SubagentStop",
        agent_id=AGENT,
        agent_type="general-purpose",
        agent_transcript_path=path,
        last_assistant_message=ANSWER,
    )
    assert said == ""


def found(client: Client, query: str, kind: str) -> list[str]:
    page = client.ask(lambda store: store.search_history(SearchHistory(client.caller, query, (kind,))))
    return [str(hit.pointer) for hit in page.hits]


def test_an_answer_is_found_with_its_transcript_beside_it_and_the_exploration_stays_out(
    claude: Client,
) -> None:
    claude.hook("session-start", source="startup")
    path = explored(claude)
    ended(claude, path)
    (entry,) = claude.entries()
    assert entry.text == f"{ANSWER}\n[A1 transcript of sub-agent general-purpose {AGENT}]"
    assert (entry.role, entry.tool) == ("assistant", "sub-agent general-purpose")
    with open(path, "rb") as file:
        assert claude.kept(1) == file.read()
    assert found(claude, "needle", "messages") == [entry.pointer]
    assert found(claude, "xylograph", "messages") == []
    brief = claude.hook("session-start", source="compact")
    assert "xylograph" not in brief
    assert "A1" not in brief


def test_an_answer_is_kept_once_whichever_tells_of_it_again(claude: Client) -> None:
    path = explored(claude)
    ended(claude, path)
    ended(claude, path)
    call = {"type": "tool_use", "id": "toolu_100", "name": "Agent", "input": {"prompt": "Find it."}}
    claude.write(assistant("a1", call), answered())
    claude.hook("stop")
    claude.hook("stop", transcript_path=path)
    assert [entry.text.splitlines()[0] for entry in claude.entries()] == [ANSWER, "prompt: Find it."]


def answered() -> Payload:
    """Return the line with which the sub-agent's answer comes into its parent's transcript."""
    texts = [{"type": "text", "text": ANSWER}]
    result = {"type": "tool_result", "tool_use_id": "toolu_100", "content": texts}
    line = user("u2", "") | {"toolUseResult": {"status": "completed", "agentId": AGENT, "content": texts}}
    return line | {"message": {"role": "user", "content": [result]}}


@pytest.mark.parametrize("transcript", ["none", "missing", "folder", "pipe"])
def test_an_answer_is_kept_without_a_transcript_that_cannot_be_read(claude: Client, transcript: str) -> None:
    path = claude.folder / transcript
    if transcript == "folder":
        path.mkdir()
    elif transcript == "pipe":
        os.mkfifo(path)
    ended(claude, None if transcript == "none" else str(path))
    assert [entry.text for entry in claude.entries()] == [ANSWER]


def test_codexs_sub_agent_is_kept_in_its_parents_conversation(codex: Client) -> None:
    codex.hook("session-start", source="startup")
    ended(codex, str(CODEX_AGENT))
    (entry,) = codex.entries()
    assert entry.text.startswith(ANSWER)
    assert codex.kept(1) == CODEX_AGENT.read_bytes()
    assert codex.folds() == []


def test_a_sub_agent_that_said_nothing_leaves_nothing(either: Client) -> None:
    for said in (None, "", 7):
        either.hook("subagent-stop", agent_id=AGENT, agent_type="x", last_assistant_message=said)
    assert not either.home.exists() or either.entries() == []
