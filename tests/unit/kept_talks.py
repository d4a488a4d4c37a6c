"""Conversations in a real store that were played once: what was asked for, and where the log ended then."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import anyio

from pinfold.context.projection import Message, Policy, Request, extractive
from pinfold.context.projection.kept import KeptConversation, open_conversation
from pinfold.store import Store
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.unit.projections import generated, tight

ANNA = Caller("harness", "anna")
BEN = Caller("harness", "ben")
FORK = Caller("harness", "another way")


@dataclass(frozen=True)
class Played:
    """A conversation of Anna's that was played: each request, and the seq it was made at."""

    folder: Path
    requests: tuple[tuple[Request, int], ...]


def small(window: int = 900) -> Policy:
    return tight(window)


def bytes_of(request: Request) -> str:
    """Return a digest of everything in a request."""
    return sha256(repr(request).encode()).hexdigest()


async def opened(store: Store, caller: Caller = ANNA, policy: Policy | None = None) -> KeptConversation:
    return await open_conversation(store, caller, policy or small(), extractive())


def play(folder: Path, seed: int, turns: int) -> Played:
    """Play a generated conversation in a new store, with pins of its own and of others in between."""
    return anyio.run(_play, folder, seed, turns)


async def _play(folder: Path, seed: int, turns: int) -> Played:
    draw = random.Random(seed)
    store = await open_store(folder, "demo")
    try:
        talk = await opened(store)
        requests = []
        for turn in turns_of(seed, turns):
            await talk.append(*turn)
            await _pin(store, talk, draw)
            idle_s = draw.choice((0.0, 0.0, 0.0, 400.0))
            requests.append((await talk.request(idle_s), talk.seq))
        return Played(folder, tuple(requests))
    finally:
        await store.close()


def turns_of(seed: int, turns: int) -> Iterator[list[Message]]:
    """Yield a generated conversation, all that is said in a turn at a time."""
    turn: list[Message] = []
    for message in generated(seed, turns):
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    yield turn


async def _pin(store: Store, talk: KeptConversation, draw: random.Random) -> None:
    """Now and then pin something, here or elsewhere, or supersede what is pinned."""
    live = [pin.number for pin in await store.pins(None, 50) if pin.superseded_by is None]
    word = f"{draw.randrange(10**6)}  letter for letter "
    match draw.randrange(8):
        case 0:
            await talk.pin(f"we keep {word}", "measured", live[:1] if draw.random() < 0.5 else ())
        case 1:
            await store.pin_decision(PinDecision(BEN, f"Ben keeps {word}", ""))
        case 2:
            await store.pin_decision(PinDecision(BEN, f"only Ben keeps {word}", "", session_only=True))
