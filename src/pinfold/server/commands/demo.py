"""`pinfold demo`: a whole session against real server processes in a throw-away store.

An MCP client starts a server, pins, spills and checkpoints; then the conversation is folded twice, as a full context
window would be; then a second server, in a new conversation, gives back what the folds lost.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio

from pinfold.context.specifics import survives
from pinfold.store.errors import DamagedError

Print = Callable[[str], None]

DECISION = "Refresh tokens live in Redis for 15 minutes and are rotated on every use."
WHY = "The mobile client cannot persist them between restarts."
DETAILS = ("Redis", "15 minutes", "rotated", "mobile client")
"""What a later reader of the decision needs exactly."""

CONVERSATION = (
    f"user: DECISION: {DECISION} {WHY}",
    "assistant: Understood. I wire the token service to Redis with a 15 minute lifetime and rotate on use.",
    "user: Turn 3: run the integration suite against the staging cluster and tell me what fails, if anything does.",
    "assistant: Turn 3: one of 1,800 checks failed, in the rate limiter; the others passed without a retry.",
    "user: Turn 4: update the changelog for the upcoming release and mention the new token service.",
    "assistant: Turn 4: done, no issues found in the changelog, the release notes build.",
)
_FIRST_FOLD_WORDS = 8
_SECOND_FOLD_WORDS = 5
_INDENT = "    "


def fold(messages: tuple[str, ...], words: int) -> tuple[str, ...]:
    """Return a stand-in for a client's summary: the first words of every second message."""
    return tuple(" ".join(message.split()[:words]) + " …" for message in messages[::2])


def build_log(lines: int = 1_800) -> str:
    """Return a build log with one failure in its middle."""
    text = [f"check {n:04d} integration/limits/test_window_{n % 37}.py passed" for n in range(1, lines + 1)]
    text[lines // 2] = "ERROR check 0901 rate limiter: expected 429, got 200 at src/limits/window.py:88"
    return "\n".join(text) + "\n"


class _Conversation:
    """One conversation of a client with a server process of its own."""

    def __init__(self, client: Any, show: Print) -> None:
        self._client = client
        self._show = show

    async def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, print what was asked and what came back, and return the text."""
        self._show(f"\n> {tool} {json.dumps(arguments, ensure_ascii=False)}")
        result = await self._client.call_tool(tool, arguments)
        text = "\n".join(block.text for block in result.content)
        self._show("\n".join(_INDENT + line for line in text.splitlines()))
        return text


async def _first_conversation(talk: _Conversation) -> None:
    await talk.call("pin_decision", text=DECISION, why=WHY)
    await talk.call(
        "pin_decision",
        text="Revocation by LISTEN/NOTIFY.",
        why="Notifications are lost behind a pooler in transaction mode.",
        kind="dead_end",
    )
    await talk.call("spill_artifact", path="build.log", label="make integration")
    await talk.call(
        "checkpoint_state",
        goal="Move the token service to Redis",
        done=["token service wired"],
        pending=["rate limiter returns 200 instead of 429"],
        next_step="Look at src/limits/window.py:88",
    )


async def _second_conversation(talk: _Conversation) -> str:
    brief = await talk.call("fetch_pointer", pointer="brief")
    await talk.call("search_history", query="why were the refresh tokens put into redis")
    await talk.call("fetch_pointer", pointer="A1", match="ERROR", context=1)
    return brief


def _show_folds(show: Print) -> None:
    once = fold(CONVERSATION, _FIRST_FOLD_WORDS)
    twice = fold(once, _SECOND_FOLD_WORDS)
    show("\n-- the context window is full; a simple stand-in for a client's summarizer folds it")
    for title, summary in (("one fold", once), ("a fold of the fold", twice)):
        show(f"-- after {title} the summary reads")
        show("\n".join(_INDENT + line for line in summary))
        show(f"{_INDENT}=> " + _left("\n".join(summary)))


def _left(text: str) -> str:
    """Say which of the decision's details a text still holds."""
    kept = [detail for detail in DETAILS if survives(detail, text)]
    return f"{len(kept)} of the decision's {len(DETAILS)} details left: {', '.join(kept) or 'none'}"


def play(show: Print, *, keep: bool) -> None:
    """Play the session and print each step through `show`.

    Raises `DamagedError` if the decision did not come back verbatim; `keep` leaves the store and says where.
    """
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="pinfold-demo-"))
    with ExitStack() as leaving:
        if not keep:
            leaving.callback(shutil.rmtree, folder, ignore_errors=True)
        brief = anyio.run(_play, folder, show)
        if DECISION not in brief or WHY not in brief:
            raise DamagedError("The demo's decision")
        show(f"\n-- the decision is back word for word; {_left(brief)}")
        show(
            f"-- {time.monotonic() - begun:.1f} s, two real server processes"
            + (f", kept in {folder}" if keep else "")
        )


async def _play(folder: Path, show: Print) -> str:
    from mcp import Client, StdioServerParameters

    project = folder / "token-service"
    project.mkdir()
    (project / "build.log").write_text(build_log(), "utf-8")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pinfold"],
        cwd=project,
        env={"PINFOLD_HOME": str(folder / "home"), "PINFOLD_PROJECT": str(project)},
    )
    show("-- a client starts the server; the agent writes down what a later reader will need")
    async with Client(server) as client:
        await _first_conversation(_Conversation(client, show))
    _show_folds(show)
    show("\n-- a new conversation, a new server process: what pinfold gives back")
    async with Client(server) as client:
        return await _second_conversation(_Conversation(client, show))
