"""A long life in one project: long output, a sub-agent, ten compactions, a resume, and no discipline but one pin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.clients import hooks
from tests.clients.clients import ClaudeCode, Client, Codex, Opening, Place
from tests.clients.dialogue import FULL, Call, Found, Say, Shell, Turn
from tests.clients.model import Script
from tests.clients.run import Conversation, converse
from tests.clients.story import PIN, WHY, server_of

FOLDS = 10
CHOICE = "We chose zstd level 7 for /srv/blocks because level 3 left 41.5 GB on disk-09."
SUMMARY = "The agent worked on the queue and will go on with it."
LINES, PART = 2_400, 400
OUTPUT = "".join(f"block {n:05d} ok\n" for n in range(1, LINES + 1))
QUESTION = "Which worker holds the lock of queue-17?"
ANSWER = "The lock of queue-17 is held by worker-4 since 03:12."
EXPLORED = "stray-find-8841"


@dataclass(frozen=True, slots=True)
class Kind:
    """A client whose hooks we use, and how its model gives a task to a sub-agent and waits for the answer."""

    client: Client
    delegates: tuple[Turn, ...]


KINDS = {
    "claude-code": Kind(
        ClaudeCode(recorded=True),
        (Call("Agent", {"description": "Look", "prompt": QUESTION, "run_in_background": False}),),
    ),
    "codex": Kind(
        Codex(recorded=True),
        (
            Call("spawn_agent", {"message": QUESTION}),
            Call("wait_agent", {"targets": [Found(r'"agent_id":"([0-9a-f-]{36})"')]}),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Life:
    """What one client's model was sent, and what its hooks were given, in a conversation and when it was resumed."""

    kind: Kind
    first: Conversation
    resumed: Conversation
    hooks: tuple[hooks.Hook, ...]


def live(kind: Kind, place: Place) -> Life:
    """Play both conversations."""
    kind.client.register(place, server_of(place))
    agents = {QUESTION: (Shell(f"echo {EXPLORED}"), Say(ANSWER))}
    first = converse(kind.client, place, Script(tuple(_first(kind)), SUMMARY, agents))
    later = (Shell("echo resumed"), Call("fetch_pointer", {"pointer": "brief"}), Say("Done."))
    resumed = converse(kind.client, place, Script(later, SUMMARY), Opening(("Go on.",), resumes=True))
    return Life(kind, first, resumed, hooks.read(place.home))


def _first(kind: Kind) -> Iterator[Turn]:
    yield Call("pin_decision", {"text": PIN, "why": WHY})
    yield Shell("echo chosen", note=CHOICE)
    yield Shell(f"seq -f 'block %05.0f ok' 1 {LINES}")
    for first in range(1, LINES, PART):
        part = f"{first}-{first + PART - 1}"
        yield Call("fetch_pointer", {"pointer": Found(r"\b(A\d+)\b"), "lines": part, "max_tokens": 5_000})
    yield from kind.delegates
    yield Shell("echo full", read=FULL)
    yield Call("fetch_pointer", {"pointer": Found(r"\b(H\d+)\b[^\n]*zstd level 7")})
    yield Shell("echo rest")
    for _ in range(FOLDS - 1):  # Claude Code gives up where three compactions come within three turns each
        yield Shell("echo full", read=FULL)
        yield from (Shell("echo go"), Shell("echo on"))
    yield Call("search_history", {"query": "who holds the lock of queue-17"})
    yield Call("search_history", {"query": EXPLORED})
    yield Call("fetch_pointer", {"pointer": "brief"})
    yield Say("Done.")
