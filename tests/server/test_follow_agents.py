"""Sub-agents: what one came to is its parent's history, with its own transcript beside it and nothing else of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.server.histories import Place, bodies, texts
from tests.server.transcript_samples import (
    CLAUDE,
    CLAUDE_AGENT,
    CLAUDE_HOME,
    CODEX_AGENT,
    CODEX_HOME,
    CODEX_PARENT,
)
from tests.server.written import SESSION, Written, transcript

ANSWER = "The needle is 42."


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def agent_of(place: Place, *lines: bytes, name: str = "a88a9ff27327c5a42") -> Path:
    path = transcript(place.folder, []).with_suffix("") / "subagents" / f"agent-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def side(talk: Written, text: str, role: str = "assistant") -> bytes:
    return talk.says(text, role, isSidechain=True, agentId="a88a9ff27327c5a42")


@pytest.mark.parametrize("wanted", [[CLAUDE, CLAUDE_AGENT], [CLAUDE_AGENT, CLAUDE], [CLAUDE]])
def test_an_answer_stands_where_its_parent_got_it_with_the_transcript_beside(
    place: Place, wanted: list[Path]
) -> None:
    assert place.run("import", *wanted).exit_code == 0
    told = place.events()
    spoken = texts(told)
    (at,) = [number for number, text in enumerate(spoken) if text.startswith("The sub-agent's answer is 42.")]
    assert spoken[at].endswith("[A2 transcript of sub-agent a88a9ff27327c5a42]")
    assert 0 < at < len(spoken) - 1
    assert len({event["session"] for event in told}) == 1
    assert place.run("show", "A2", "--raw").stdout == CLAUDE_AGENT.read_text()


def test_a_sub_agent_of_codex_is_linked_to_its_parents_session(place: Place, tmp_path: Path) -> None:
    content = [{"type": "output_text", "text": "I looked around."}]
    payload = {"type": "message", "role": "assistant", "content": content}
    line = {"timestamp": "2026-11-30T01:36:25Z", "ordinal": 11, "type": "response_item", "payload": payload}
    agent = tmp_path / CODEX_AGENT.name
    agent.write_text(f"{CODEX_AGENT.read_text()}{json.dumps(line)}\n")
    assert place.run("import", agent, CODEX_PARENT).exit_code == 0
    told = place.events()
    assert len({event["session"] for event in told}) == 1
    last = bodies(told)[-1]
    assert (last["role"], last["tool"]) == ("assistant", "sub-agent")
    assert (
        last["text"] == "I looked around.\n[A2 transcript of sub-agent 01a22a18-990a-71b3-ad07-fea348c710b3]"
    )
    again = json.loads(place.run("import", "--json", agent, CODEX_PARENT).stdout)
    assert (again["files"], again["messages"]) == (2, 0)
    assert place.events() == told


def test_exploration_is_no_message_and_an_agent_at_work_has_no_answer_yet(place: Place) -> None:
    talk = Written()
    asked, looked = side(talk, "Find the needle.", "user"), side(talk, "I look into haystack 7.")
    agent = agent_of(place, asked)
    main = transcript(place.folder, [talk.says("Hello.", "user")])
    assert place.run("import", main, agent).exit_code == 0
    agent.write_bytes(asked + looked + talk.calls("Bash", {"command": "dig"}, "toolu_1"))
    assert place.run("import", main, agent).exit_code == 0
    assert texts(place.events()) == ["Hello."]
    agent.write_bytes(asked + looked + side(talk, ANSWER))
    assert place.run("import", main, agent).exit_code == 0
    assert place.run("import", agent).exit_code == 0
    assert texts(place.events()) == [
        "Hello.",
        f"{ANSWER}\n[A1 transcript of sub-agent a88a9ff27327c5a42]",
    ]
    hits = json.loads(place.run("search", "haystack", "--json").stdout)["hits"]
    assert [hit["kind"] for hit in hits] == ["artifacts"]
    assert "haystack" not in place.run("brief").stdout


def test_an_answer_that_a_hook_told_of_is_not_told_again(place: Place) -> None:
    talk = Written()
    agent = agent_of(place, side(talk, "Find it.", "user"), side(talk, ANSWER))
    stop = {
        "session_id": SESSION,
        "agent_id": "a88a9ff27327c5a42",
        "agent_type": "general-purpose",
        "agent_transcript_path": str(agent),
        "last_assistant_message": ANSWER,
        "cwd": str(place.project),
    }
    assert place.run_hook("subagent-stop", stop).stderr == ""
    call = talk.calls("Agent", {"prompt": "Find it."}, "toolu_9")
    outcome = {
        "status": "completed",
        "agentId": "a88a9ff27327c5a42",
        "content": [{"type": "text", "text": ANSWER}],
    }
    main = transcript(place.folder, [call, talk.results("toolu_9", ANSWER, toolUseResult=outcome)])
    assert place.run("import", main, agent).exit_code == 0
    assert [text.splitlines()[0] for text in texts(place.events())] == [ANSWER, "prompt: Find it."]
    assert len(bodies(place.events(), "artifact.spilled")) == 1


def test_the_samples_of_all_clients_come_in_together(place: Place, tmp_path: Path) -> None:
    for home, name in ((CLAUDE_HOME, "claude"), (CODEX_HOME, "codex")):
        shutil.copytree(home, tmp_path / name)
    listed = place.run("import", tmp_path / "claude", tmp_path / "codex", "--json")
    found = json.loads(listed.stdout)
    assert (found["files"], found["folds"], found["pins"], found["failed"]) == (10, 3, 1, []), (
        "both clients say the same"
    )
    assert place.run("verify").exit_code == 0
