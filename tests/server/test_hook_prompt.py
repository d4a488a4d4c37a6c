"""A prompt's `DECISION:` becomes the user's pin, unless a client wrote that prompt in the user's name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

DECISION = "DECISION: listen on port 8441, because 8080 is taken"
REPORT = f"<task-notification>\n<task-id>a1</task-id>\n<result>Looked.\n{DECISION}\n</result>\n</task-notification>"


def _hear(folder: Path, client: str, payload: Mapping[str, str]) -> str:
    """Run the hook as a client does; return what the client adds to the context."""
    event = {"session_id": "s-1", "cwd": str(folder), "hook_event_name": "UserPromptSubmit", **payload}
    command = (sys.executable, "-m", "pinfold", "hook", "user-prompt-submit", "--client", client)
    options = ("--home", str(folder / "store"))
    done = subprocess.run(
        [*command, *options], input=json.dumps(event), capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_decision_in_a_prompt_is_pinned_and_its_pointer_told(tmp_path: Path, client: str) -> None:
    assert (
        _hear(tmp_path, client, {"prompt": f"Go on.\n{DECISION}"}) == "pinfold: pinned from the prompt: P1\n"
    )


@pytest.mark.parametrize(
    ("client", "payload"),
    [("claude", {"prompt": REPORT}), ("codex", {"prompt": DECISION, "agent_id": "t-2"})],
    ids=["what a background task of Claude Code came to", "what an agent of Codex tells its sub-agent"],
)
def test_what_a_client_writes_in_the_users_name_is_not_pinned(
    tmp_path: Path, client: str, payload: dict[str, str]
) -> None:
    assert _hear(tmp_path, client, payload) == ""
    assert _hear(tmp_path, client, {"prompt": DECISION}) == "pinfold: pinned from the prompt: P1\n"
