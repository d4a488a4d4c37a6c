"""A long life in one project: long output, a sub-agent, ten compactions, a resume, a clear, and little discipline."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.clients import hooks
from tests.clients.clients import CLEAR, ClaudeCode, Client, Codex, Opening, Place, Start
from tests.clients.dialogue import FULL, Call, Found, Say, Shell, Turn
from tests.clients.model import Script
from tests.clients.run import Conversation, converse, run
from tests.clients.story import PIN, WHY

FOLDS = 10
CHOICE = "We chose zstd level 7 for /srv/blocks because level 3 left 41.5 GB on disk-09."
SUMMARY = "The agent worked on the queue and will go on with it."
LINES, _PART = 2_400, 400
_STARTS = range(1, LINES + 1, _PART)
PARTS = tuple("".join(f"block {n:05d} ok\n" for n in range(start, start + _PART)) for start in _STARTS)
OUTPUT = "".join(PARTS)
ORDERED = "look at queue-17 and at nothing else"
QUESTION = f"Which worker holds the lock of queue-17?\nDECISION: {ORDERED}"
ANSWER = "The lock of queue-17 is held by worker-4 since 03:12."
EXPLORED = "stray-find-8841"
DECIDED = "release on 2026-12-04, because the audit begins on 2026-12-07"
GO_ON, ANEW = "Go on with it.", "Begin something else."
ONLY_RESUMED, ONLY_CLEARED = "Try port 8441 first", "Keep the branch fix-7710 for now"


@dataclass(frozen=True, slots=True)
class Kind:
    """A client whose hooks we use, and how its model gives a task to a sub-agent and waits for the answer.

    `rests` is what has to come between two compactions: Claude Code gives up at the third within three turns.
    """

    client: Client
    delegates: tuple[Turn, ...]
    rests: tuple[Turn, ...]


KINDS = {
    "claude-code": Kind(
        ClaudeCode(recorded=True),
        (Call("Agent", {"description": "Look", "prompt": QUESTION, "run_in_background": False}),),
        (Shell("echo go"), Shell("echo on")),
    ),
    "codex": Kind(
        Codex(recorded=True),
        (
            Call("spawn_agent", {"message": QUESTION}),
            Call("wait_agent", {"targets": [Found(r'"agent_id":"([0-9a-f-]{36})"')]}),
        ),
        (),
    ),
}


@dataclass(frozen=True, slots=True)
class Life:
    """What one client's model was sent in three conversations: a long one, the same resumed, and one with a `/clear`.

    `hooks` is what its hooks were given in all of them.
    """

    kind: Kind
    first: Conversation
    resumed: Conversation
    cleared: Conversation
    hooks: tuple[hooks.Hook, ...]


def live(kind: Kind, place: Place) -> Life:
    """Play them."""
    install(kind.client, place)
    agents = {QUESTION: (Shell(f"echo {EXPLORED}"), Say(ANSWER))}
    first = converse(kind.client, place, Script(tuple(_first(kind)), SUMMARY, agents))
    later = Opening((f"{GO_ON}\nDECISION: {DECIDED}",), resumes=True)
    resumed = converse(kind.client, place, Script((*_noted(ONLY_RESUMED), Say("Done.")), SUMMARY), later)
    anew = Opening((GO_ON, CLEAR, ANEW))
    script = Script((Shell("echo before"), Say("Done."), *_noted(ONLY_CLEARED), Say("Done.")), SUMMARY)
    cleared = converse(kind.client, place, script, anew)
    return Life(kind, first, resumed, cleared, hooks.read(place.home))


def install(client: Client, place: Place) -> None:
    """Let pinfold write itself into the client's configuration, as a user does."""
    pinfold = str(Path(sys.executable).with_name("pinfold"))
    env = client.env(place) | {"PINFOLD_HOME": str(place.home / "store")}
    run(Start((pinfold, "install", client.registry), env), place)


def _first(kind: Kind) -> Iterator[Turn]:
    yield Call("pin_decision", {"text": PIN, "why": WHY})
    yield Shell("echo chosen", note=CHOICE)
    yield Shell(f"seq -f 'block %05.0f ok' 1 {LINES}")
    for start in _STARTS:
        part = f"{start}-{start + _PART - 1}"
        yield Call("fetch_pointer", {"pointer": Found(r"\b(A\d+)\b"), "lines": part, "max_tokens": 5_000})
    yield from kind.delegates
    yield Shell("echo full", read=FULL)
    yield Call("fetch_pointer", {"pointer": Found(r"\b(H\d+)\b[^\n]*zstd level 7")})
    yield Shell("echo rest")
    for _ in range(FOLDS - 1):
        yield Shell("echo full", read=FULL)
        yield from kind.rests
    yield Call("search_history", {"query": "since when is the lock of queue-17 held by a worker"})
    yield Call("search_history", {"query": EXPLORED})
    yield Call("fetch_pointer", {"pointer": "brief"})
    yield Say("Done.")


def _noted(text: str) -> Iterator[Turn]:
    """Pin something for this session only, and have the context folded."""
    yield Call("pin_decision", {"text": text, "why": "because nobody else needs it", "session_only": True})
    yield Shell("echo full", read=FULL)
    yield Shell("echo rest")
