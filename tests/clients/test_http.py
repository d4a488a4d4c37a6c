"""Claude Code and Codex, registered by `pinfold install --http`, have whole turns with a server for a team."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.clients.clients import ClaudeCode, Client, Codex, Opening, Place, Start
from tests.clients.dialogue import Call, Say
from tests.clients.model import Script
from tests.clients.run import converse, run
from tests.clients.story import NEXT_STEP, PIN, WHY, server_of
from tests.http.serving import Served, served

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]

CLIENTS: dict[str, Client] = {"claude": ClaudeCode(), "codex": Codex()}
STEPS = {
    "pin": Call("pin_decision", {"text": PIN, "why": WHY}),
    "spill": Call("spill_artifact", {"content": "a long log\n" * 200, "label": "build log"}),
    "spill a file": Call("spill_artifact", {"path": "build.log"}),
    "search": Call("search_history", {"query": "retry jitter"}),
    "checkpoint": Call("checkpoint_state", {"goal": "Ship the queue", "next_step": NEXT_STEP}),
}


@dataclass(frozen=True, slots=True)
class Carrying:
    """A client in whose environment the token is."""

    client: Client
    token: str

    @property
    def registry(self) -> str:
        return self.client.registry

    def env(self, place: Place) -> dict[str, str]:
        return {**self.client.env(place), "PINFOLD_TOKEN": self.token}

    def register(self, place: Place, server: object) -> None:
        raise NotImplementedError

    def start(self, place: Place, opening: Opening, model_url: str) -> Start:
        begun = self.client.start(place, opening, model_url)
        return replace(begun, env={**begun.env, "PINFOLD_TOKEN": self.token})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as running:
        yield running


def _install(client: Carrying, place: Place, server: Served, project: str) -> None:
    """Register the project of the server, as a user does."""
    env = client.env(place) | {"PYTHONPATH": server_of(place).env["PYTHONPATH"]}
    url = f"http://127.0.0.1:{server.port}/p/{project}"
    for folder in ("claude", "codex"):
        (place.home / folder).mkdir()
    run(Start((sys.executable, "-m", "pinfold", "install", client.registry, "--http", url), env), place)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_registered_over_http_has_a_whole_turn(place: Place, server: Served, name: str) -> None:
    client = Carrying(CLIENTS[name], server.token("anna", "shop", "web"))
    _install(client, place, server, "shop")
    first = converse(client, place, Script((*STEPS.values(), Say("Done."))))
    told = dict(zip(STEPS, first.results, strict=True))
    shown = {"pin": "P1", "spill": "A1", "search": "P1", "checkpoint": "C1"}
    assert {step: told[step].shows(pointer) for step, pointer in shown.items()} == dict.fromkeys(shown, True)
    assert "over HTTP none is read" in (told["spill a file"].text or "")
    again = converse(client, place, Script((Call("fetch_pointer", {"pointer": "brief"}), Say("Done."))))
    (brief,) = again.results
    assert [brief.shows(text) for text in (PIN, WHY, NEXT_STEP)] == [True] * 3
    lines = [line for line in server.lines(6) if line["tool"]]
    assert {(line["token"], line["project"], line["status"]) for line in lines} == {("anna", "shop", 200)}
    assert client.token not in json.dumps([*first.requests, *again.requests])
    kept = [path for path in place.home.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in kept if client.token.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("name", CLIENTS)
def test_without_its_token_a_client_gets_nothing(place: Place, server: Served, name: str) -> None:
    """Claude Code goes on without the server; Codex, told that it is needed, does not begin."""
    server.token("anna", "shop")
    client = Carrying(CLIENTS[name], "pinfold_wrong")
    _install(client, place, server, "shop")
    if name == "claude":
        began = converse(client, place, Script((Say("Done."),)))
        assert "pin_decision" not in json.dumps(began.requests)
    else:
        with pytest.raises(AssertionError, match="exit status"):
            converse(client, place, Script((Say("Done."),)))
    assert {line["status"] for line in server.lines(1)} == {401}
