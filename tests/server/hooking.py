"""Hooks as a client calls them: a real process for each event, the payload on its standard input.

Most tests carry an event out without the process, and once more with it in the long tier.
Payloads are those of Claude Code 2.1.332 and Codex 0.171.0, without the fields that nobody reads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import anyio

from pinfold.context.specifics import specifics
from pinfold.server.hook import carry_out
from pinfold.server.settings import read_settings
from pinfold.store import Store
from pinfold.store.commands import CheckpointState, PinDecision
from pinfold.store.results import Entry, Fold, Pin
from pinfold.store.sqlite.direct import DirectStore, open_direct
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.server.peer import PATIENCE_S, environment

HOOK = [sys.executable, "-m", "pinfold", "hook"]
Done = subprocess.CompletedProcess[bytes]
Payload = dict[str, Any]
T = TypeVar("T")


class Client:
    """A client at work in the project `folder/app`, in one conversation, with its transcript beside it.

    The test's own process takes the client's part: it is what hooks and servers are started by.
    """

    def __init__(
        self, folder: Path, name: str = "claude", session: str = "951ca3bd", *, piped: bool = True
    ) -> None:
        self.name = name
        self.session = session
        self.piped = piped
        self.folder = folder
        self.project = folder / "app"
        self.home = folder / "home"
        self.transcript = folder / f"{session}.jsonl"
        self.project.mkdir(exist_ok=True)

    @property
    def caller(self) -> Caller:
        return Caller({"claude": "claude-code"}.get(self.name, self.name), self.session)

    def payload(self, **fields: object) -> Payload:
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
        }
        return {**common, **fields}

    def environment(self, **more: str) -> dict[str, str]:
        ours = {"PINFOLD_HOME": str(self.home)}
        if self.name == "claude":
            ours |= {"CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PID": str(os.getpid())}
        return environment(**ours | more)

    def run(self, event: str, given: bytes, *options: str, **variables: str) -> Done:
        """Run a hook on raw bytes, whatever comes of it."""
        return subprocess.run(
            [*HOOK, event, *(options or ("--client", self.name))],
            cwd=self.project,
            env=self.environment(**variables),
            input=given,
            capture_output=True,
            timeout=PATIENCE_S,
        )

    def hook(self, event: str, *, variables: Mapping[str, str] | None = None, **fields: object) -> str:
        """Run a hook that has nothing to complain of; return what the client reads."""
        given = json.dumps(self.payload(**fields)).encode()
        if self.piped:
            done = self.run(event, given, **variables or {})
            assert (done.returncode, done.stderr) == (0, b"")
            return done.stdout.decode()
        with patch.dict(os.environ, self.environment(**variables or {}), clear=True):
            said, faults = carry_out([event, "--client", self.name], given)
        assert faults == []
        return said

    def replaced(self, **fields: Any) -> Any:
        """Run PostToolUse; return the JSON with which it answers, None where it is silent."""
        said = self.hook("post-tool-use", hook_event_name="PostToolUse", **fields)
        return json.loads(said) if said else None

    def write(self, *lines: Payload) -> None:
        """Append to the transcript, as the client does."""
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    @property
    def store_folder(self) -> Path:
        return read_settings({"PINFOLD_HOME": str(self.home)}, self.project).store_folder

    def direct(self) -> DirectStore:
        return open_direct(self.store_folder, "app")

    def pin(self, *texts: str, why: str = "it was measured", **more: Any) -> None:
        """Pin as the agent of this conversation does."""
        store = self.direct()
        for text in texts:
            about = {"specifics": specifics(f"{text}\n{why}")} | more
            store.pin_decision(PinDecision(self.caller, text, why, **about))
        store.close()

    def ask(self, question: Callable[[Store], Awaitable[T]]) -> T:
        """Open the store, ask it one thing, close it."""

        async def asking() -> T:
            store = await open_store(self.store_folder, "app")
            try:
                return await question(store)
            finally:
                await store.close()

        return anyio.run(asking)

    def save(self, goal: str, caller: Caller | None = None) -> None:
        """Save a checkpoint as the agent of this conversation does."""
        command = CheckpointState(caller or self.caller, goal=goal)
        self.ask(lambda store: store.checkpoint_state(command))

    def pins(self) -> list[Pin]:
        return sorted(self.ask(lambda store: store.pins(None, 50)), key=lambda pin: pin.number)

    def folds(self) -> list[Fold]:
        return list(self.ask(lambda store: store.folds(None, 50)))

    def kept(self, number: int) -> bytes:
        """Return an artifact's bytes."""
        return self.ask(lambda store: store.artifact_bytes(number, 0, 1 << 27)).content

    def entries(self) -> list[Entry]:
        """Return the messages of the log, oldest first."""
        store = self.direct()
        try:
            seqs = range(1, store.brief_state(None).seq + 1)
        finally:
            store.close()

        async def each(log: Store) -> list[Entry]:
            found = [await _entry(log, seq) for seq in seqs]
            return [entry for entry in found if entry is not None]

        return self.ask(each)


async def _entry(log: Store, seq: int) -> Entry | None:
    from pinfold.store.errors import NotFoundError

    try:
        return await log.entry(seq)
    except NotFoundError:
        return None


def complained(done: Done) -> str:
    """Check that a hook left its client alone and said why in one line; return that line."""
    assert done.returncode == 0
    line = done.stderr.decode()
    assert line.startswith("pinfold hook: ")
    assert line.count("\n") == 1
    assert line.endswith("\n")
    return line


def user(uuid: str, text: str, **more: object) -> Payload:
    """Return a line of Claude Code's transcript."""
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": uuid, "timestamp": "2026-11-30T01:00:00.000Z", "message": message, **more}


def assistant(uuid: str, *blocks: Payload | str) -> Payload:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"role": "assistant", "model": "claude-opus-5-5", "content": content}
    return {"type": "assistant", "uuid": uuid, "timestamp": "2026-11-30T01:00:01.000Z", "message": message}


def boundary(uuid: str, trigger: str = "auto", before: int = 120_021, after: int = 2_704) -> Payload:
    figures = {"trigger": trigger, "preTokens": before, "postTokens": after, "durationMs": 117}
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid,
        "timestamp": "2026-11-30T01:00:02.000Z",
        "compactMetadata": figures,
    }


def summary_line(uuid: str, summary: str) -> Payload:
    beginning = "This session is being continued from a previous conversation that ran out of context."
    return user(uuid, f"{beginning}\n{summary}", isCompactSummary=True, isVisibleInTranscriptOnly=True)
