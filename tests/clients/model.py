"""A scripted stand-in for a model API on 127.0.0.1, so that real clients run whole turns offline."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType

from tests.clients import anthropic_messages, openai_responses
from tests.clients.dialogue import Event, Json, Result, Say, Turn, filled

_FORMATS = {module.PATH: module for module in (anthropic_messages, openai_responses)}
_NUMBERS = itertools.count(1)
_ENDED = Say("The script has ended.")


@dataclass(frozen=True, slots=True)
class Script:
    """What the model says: turn by turn in the main loop, at every compaction, and as sub-agents by their prompts."""

    turns: tuple[Turn, ...]
    summary: str = "The work so far was summarised."
    agents: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)


class ScriptedModel:
    """Plays one turn of its script per request of the agent's main loop, and keeps what it was sent.

    A request that offers no tools is an aside of the client (a title, a topic): it takes no turn.
    """

    def __init__(self, script: Script) -> None:
        self.requests: list[Json] = []
        """Those of the main loop."""
        self.folds: list[int] = []
        """For each compaction, how many requests of the main loop came before it."""
        self._path = ""
        self._summary = script.summary
        self._turns = list(script.turns)
        self._agents = {prompt: list(turns) for prompt, turns in script.agents.items()}
        self._lock = threading.Lock()

    @property
    def unplayed(self) -> int:
        """How many turns the client did not ask for."""
        return len(self._turns) + sum(len(turns) for turns in self._agents.values())

    def answer(self, path: str, request: Json) -> list[Event]:
        """Return the events of the next turn. Numbers, and so the ids of calls, are never used again."""
        wire = _FORMATS[path]
        with self._lock:
            return list(wire.reply(self._turn(path, wire, request), request, next(_NUMBERS)))

    def results(self) -> tuple[Result, ...]:
        """Return all tool results of the conversation in order, those too that a compaction has shed since."""
        read = (result for request in self.requests for result in _FORMATS[self._path].results(request))
        return tuple({result.call: result for result in read}.values())

    def _turn(self, path: str, wire: ModuleType, request: Json) -> Turn:
        if wire.wants_summary(request):
            self.folds.append(len(self.requests))
            return Say(wire.SUMMARY.format(self._summary))
        if not wire.offered(request):
            return Say("ok")
        said = "\n".join(wire.prompts(request))
        turns = next((turns for prompt, turns in self._agents.items() if prompt in said), None)
        if turns is None:
            self.requests.append(request)
            self._path, turns = path, self._turns
        return filled(turns.pop(0), request) if turns else _ENDED


@contextmanager
def serving(model: ScriptedModel) -> Iterator[str]:
    """Serve the model until the block ends; yield its address, without a path."""

    class Endpoint(_Endpoint):
        played = model

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(10)


class _Endpoint(BaseHTTPRequestHandler):
    played: ScriptedModel

    def do_GET(self) -> None:
        self._send(200, "application/json", b'{"object": "list", "data": [], "models": []}')

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers["content-length"]))
        if path in _FORMATS:
            self._send(200, "text/event-stream", _stream(self.played.answer(path, json.loads(body))))
        else:
            self._send(404, "application/json", b'{"error": {"type": "not_found_error"}}')

    def log_message(self, *_: object) -> None:
        """Say nothing: what was asked is kept by the model."""

    def _send(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _stream(events: Iterable[Event]) -> bytes:
    return "".join(f"event: {name}\ndata: {json.dumps(body)}\n\n" for name, body in events).encode()
