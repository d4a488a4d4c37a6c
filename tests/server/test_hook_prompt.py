"""UserPromptSubmit: what the user marks is pinned, once; anything else is nobody's business."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pinfold.context.said import LABELS
from pinfold.server.hook import _SPOKEN
from pinfold.store.commands import PinDecision
from pinfold.store.values import PinKind
from tests.server.hooking import Client, complained, user

PROMPT = """Please go on.
DECISION: retries stop after 5, because the gateway bans at 8
DEAD END: `httpx` pools. Why: handshakes took 70 ms
The FACT: in the middle of a line is none."""


def test_what_the_user_marks_is_pinned_once_and_the_agent_learns_the_pointers(either: Client) -> None:
    turn: dict[str, Any] = {"turn_id": "t1"} if either.name == "codex" else {"prompt_id": "98d3bd2c"}
    for word in ("pinned", "already pinned"):
        said = either.hook("UserPromptSubmit", prompt=PROMPT, **turn)
        assert said == f"pinfold: {word} from the prompt: P1, P2\n"
    assert [(pin.kind, pin.text, pin.why, pin.actor) for pin in either.pins()] == [
        (
            PinKind.DECISION,
            "retries stop after 5, because the gateway bans at 8",
            "the gateway bans at 8",
            "user",
        ),
        (PinKind.DEAD_END, "`httpx` pools.", "handshakes took 70 ms", "user"),
    ]


def test_the_same_line_in_the_transcript_is_no_second_pin_even_when_the_first_is_superseded(
    claude: Client,
) -> None:
    claude.hook("user-prompt-submit", prompt="FACT: the port is 4317")
    claude.write(user("u1", "FACT: the port is 4317", promptId="98d3bd2c"))
    claude.hook("stop")
    assert len(claude.pins()) == 1
    _supersede(claude)
    claude.write(user("u2", "FACT: the port is 4317"))
    claude.hook("stop")
    assert [(pin.text, pin.superseded_by) for pin in claude.pins()] == [
        ("the port is 4317", 2),
        ("the port is 4318", None),
    ]


@pytest.mark.parametrize("tag", ["system-reminder", "ide_selection", "ide_opened_file"])
def test_what_claude_code_puts_around_a_prompt_is_not_the_users(claude: Client, tag: str) -> None:
    around = f"<{tag}>\nDECISION: of a file that is open\n</{tag}>\n"
    prompt = f"{around}{around}FACT: the port is 4317"
    assert claude.hook("user-prompt-submit", prompt=prompt) == "pinfold: pinned from the prompt: P1\n"
    claude.write(user("u1", prompt))
    claude.hook("stop")
    assert [pin.text for pin in claude.pins()] == ["the port is 4317"]
    assert [entry.text for entry in claude.entries()] == ["FACT: the port is 4317"]


def test_what_the_user_marks_again_after_it_was_superseded_stands_again(claude: Client) -> None:
    claude.hook("user-prompt-submit", prompt="FACT: the port is 4317")
    _supersede(claude)
    said = claude.hook("user-prompt-submit", prompt="FACT: the port is 4317")
    assert said == "pinfold: pinned from the prompt: P3\n"
    assert [pin.superseded_by for pin in claude.pins()] == [2, None, None]


def _supersede(claude: Client) -> None:
    store = claude.direct()
    store.pin_decision(PinDecision(claude.caller, "the port is 4318", "it moved", supersedes=(1,)))
    store.close()


def test_a_prompt_that_marks_nothing_leaves_no_store_behind(claude: Client) -> None:
    for prompt in ("Go on.", "What is a FACT: here?", "```\nDECISION: quoted code\n```", ""):
        assert claude.hook("user-prompt-submit", prompt=prompt) == ""
    assert claude.hook("user-prompt-submit", prompt=["DECISION: no text"]) == ""
    assert not claude.home.exists()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (
            "claude",
            {"prompt": "<task-notification>\n<result>\nDECISION: drop it\n</result></task-notification>"},
        ),
        ("claude", {"prompt": "<local-command-stdout>\nDECISION: drop it\n</local-command-stdout>"}),
        ("codex", {"prompt": "DECISION: drop it", "agent_id": "01a22a18", "agent_type": "default"}),
    ],
)
def test_what_the_user_did_not_write_is_not_pinned_in_their_name(
    tmp_path: Path, piped: bool, name: str, fields: dict[str, Any]
) -> None:
    client = Client(tmp_path, name, piped=piped)
    assert client.hook("user-prompt-submit", **fields) == ""
    assert not client.home.exists()


def test_what_cannot_be_pinned_is_one_line_on_stderr_and_the_rest_is_pinned(claude: Client) -> None:
    prompt = f"FACT:\nFACT: {'x' * 2_001}\nFACT: it fits"
    done = claude.run("user-prompt-submit", json.dumps(claude.payload(prompt=prompt)).encode())
    assert "2,001 characters" in complained(done)
    assert done.stdout == b"pinfold: pinned from the prompt: P1\n"
    assert [pin.text for pin in claude.pins()] == ["it fits"]


def test_a_secret_in_what_is_marked_is_not_kept(claude: Client) -> None:
    token = f"ghp_{'a1B2' * 9}"
    claude.hook("user-prompt-submit", prompt=f"FACT: the token is {token}")
    assert "[redacted:" in claude.pins()[0].text
    assert all(token.encode() not in file.read_bytes() for file in claude.store_folder.iterdir())


def test_the_words_that_a_hook_looks_for_are_those_that_mark_a_line() -> None:
    """They stand in the hook once more, which loads nothing else before it has seen one."""
    assert tuple(word.encode() for word in LABELS) == _SPOKEN
