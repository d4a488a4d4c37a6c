"""A secret given by any way in is in no byte that was written: files, index, free pages, stderr, replies. P24."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults.raw_bytes import everything, leaks
from tests.secret_samples import SECRETS
from tests.server.peer import Peer, call, serving

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """One way in: the tool, and its arguments with a text in their midst. `kept`: what surrounds a secret is stored."""

    tool: str
    arguments: Callable[[str], Arguments]
    kept: bool = True


def _as_state(field: str) -> Callable[[str], Arguments]:
    return lambda text: {"goal": "go on", field: [text]}


def _beside(**wrong: Any) -> Callable[[str], Arguments]:
    return lambda text: {name: text if value is None else value for name, value in wrong.items()}


WAYS = {
    "pin text": Way("pin_decision", lambda text: {"text": text, "why": "measured"}),
    "pin why": Way("pin_decision", lambda text: {"text": f"decided {len(text)}", "why": text}),
    "pin files": Way("pin_decision", lambda text: {"text": text.split()[0], "why": "it is", "files": [text]}),
    "pin key": Way("pin_decision", lambda text: {"text": "keyed", "why": "it is", "key": text}),
    "pin kind": Way("pin_decision", _beside(text="pinned", why="it is", kind=None), kept=False),
    "pin supersedes": Way(
        "pin_decision", lambda text: {"text": "x", "why": "y", "supersedes": [text]}, kept=False
    ),
    "pin session_only": Way(
        "pin_decision", _beside(text="pinned", why="it is", session_only=None), kept=False
    ),
    "an unknown argument": Way("pin_decision", lambda text: {"text": "x", "why": "y", text: 1}, kept=False),
    "an object as text": Way("pin_decision", lambda text: {"text": {text: text}, "why": "y"}, kept=False),
    "spill content": Way("spill_artifact", lambda text: {"content": f"head\n{text}\ntail"}),
    "spill JSON": Way("spill_artifact", lambda text: {"content": json.dumps({"output": text, "n": 1})}),
    "spill label": Way("spill_artifact", lambda text: {"content": f"long {len(text)}", "label": text}),
    "spill source": Way("spill_artifact", lambda text: {"content": f"long {len(text)}", "source": text}),
    "spill key": Way("spill_artifact", lambda text: {"content": "keyed", "key": text}),
    "spill path": Way("spill_artifact", lambda text: {"path": f"no/{text}"}, kept=False),
    "fetch pointer": Way("fetch_pointer", lambda text: {"pointer": text}, kept=False),
    "fetch match": Way("fetch_pointer", lambda text: {"pointer": "A1", "match": text}, kept=False),
    "fetch json_path": Way("fetch_pointer", lambda text: {"pointer": "A1", "json_path": text}, kept=False),
    "fetch cursor": Way("fetch_pointer", lambda text: {"pointer": "A1", "cursor": text}, kept=False),
    "search query": Way("search_history", lambda text: {"query": text}),
    "search path": Way("search_history", lambda text: {"query": "head", "path": text}, kept=False),
    "search kinds": Way("search_history", lambda text: {"query": "head", "kinds": [text]}, kept=False),
    "search since": Way("search_history", lambda text: {"query": "head", "since": text}, kept=False),
    "search limit": Way("search_history", lambda text: {"query": "head", "limit": text}, kept=False),
    "search missed": Way("search_history", lambda text: {"query": "head", "missed": text}, kept=False),
    "state goal": Way("checkpoint_state", lambda text: {"goal": text}),
    "state next_step": Way("checkpoint_state", lambda text: {"next_step": text}),
    **{
        f"state {field}": Way("checkpoint_state", _as_state(field))
        for field in ("done", "pending", "facts", "constraints", "files")
    },
    "state fork_of": Way("checkpoint_state", _beside(goal="fork", fork_of=None), kept=False),
    "state key": Way("checkpoint_state", lambda text: {"goal": "keyed", "key": text}),
    "no such tool": Way("forget_everything", lambda text: {"text": text}, kept=False),
}


@dataclass(frozen=True, slots=True)
class Given:
    """A secret by one way in; `canary` stands in front of it and is no secret."""

    name: str
    canary: str
    text: str


def _every_way(most: int | None) -> Iterator[Given]:
    """Yield each way with each secret, or each way with `most` of them in turn, so that each secret has its way."""
    for number, name in enumerate(WAYS):
        for step in range(most or len(SECRETS)):
            at = (number * (most or 0) + step) % len(SECRETS)
            _, before, secret, after = SECRETS[at]
            canary = f"canary{number}x{step}"
            if not name.endswith("key") or len(secret) < 120:
                yield Given(name, canary, f"{canary} {before}{secret}{after}")


def _use(peer: Peer, given: list[Given]) -> bytes:
    """Give each and return all that came back."""
    replies = []
    for number, one in enumerate(given):
        way = WAYS[one.name]
        replies.append(peer.ask(call(number, way.tool, **way.arguments(one.text))))
    return json.dumps(replies, ensure_ascii=False).encode()


@pytest.mark.parametrize("most", [4, pytest.param(None, marks=pytest.mark.full)], ids=["some", "all"])
def test_a_secret_in_any_argument_of_any_tool_is_in_no_byte_that_was_written(
    home: Path, project: Path, most: int | None
) -> None:
    given = list(_every_way(most))
    with serving(PINFOLD_HOME=str(home), PINFOLD_PROJECT=str(project)) as peer:
        told = _use(peer, given)
        while_open = everything(home)
        peer.stdin.close()
        assert peer.is_gone(10)
        where = everything(home) | {"replies": told, "stderr": peer.noted}
    stored = b"".join(where.values())
    missing = [one for one in given if WAYS[one.name].kept and one.canary.encode() not in stored]
    assert [(one.name, one.text) for one in missing] == []
    print(f"{len(given)} calls, {len(stored):,} bytes looked through")
    secrets = {secret for _, _, secret, _ in SECRETS}
    assert leaks(where, secrets) == []
    assert leaks(while_open, secrets) == []
