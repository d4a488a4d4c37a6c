"""A scripted stand-in for a model API on 127.0.0.1, so that real clients run whole turns offline."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.clients import anthropic_messages, openai_responses
from tests.clients.dialogue import Event, Json, Result, Say, Turn

_FORMATS = {module.PATH: module for module in (anthropic_messages, openai_responses)}


class ScriptedModel:
    """Plays one turn of its script per request of the agent's main loop, and keeps what it was sent.

    A request that offers no tools is an aside of the client (a title, a topic): it takes no turn.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.requests: list[Json] = []
        self._path = ""
        self._unplayed = list(turns)
        self._lock = threading.Lock()

    @property
    def unplayed(self) -> int:
        """How many turns the client did not ask for."""
        return len(self._unplayed)

    def answer(self, path: str, request: Json) -> list[Event]:
        """Return the events of the next turn."""
        wire = _FORMATS[path]
        with self._lock:
            if not wire.offered(request):
                return list(wire.reply(Say("ok"), request, 0))
            self.requests.append(request)
            self._path = path
            turn = self._unplayed.pop(0) if self._unplayed else Say("The script has ended.")
            return list(wire.reply(turn, request, len(self.requests)))

    def results(self) -> tuple[Result, ...]:
        """Return the tool results of the conversation, as the newest request carries them."""
        return tuple(_FORMATS[self._path].results(self.requests[-1]))


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
