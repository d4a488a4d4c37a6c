"""The chat summarizer against a real HTTP server on loopback."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest

from pinfold.context.projection import Message
from pinfold.context.projection.chat import ChatError, chat
from pinfold.store.errors import InvalidInputError

KEY = "sk-a-key-that-nobody-may-see"
SAID = [Message(1, "user", "use Redis"), Message(2, "assistant", "done")]
Answer = tuple[int, Any]


class Endpoint(ThreadingHTTPServer):
    """Answers what it is told to, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Callable[[int], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.answer = answer
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Asked(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers.get("Authorization", ""), body))
        status, answer = self.server.answer(len(self.server.asked))
        written = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        with suppress(OSError):  # of a caller that has given up
            self.wfile.write(written)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def endpoint(answer: Callable[[int], Answer]) -> Iterator[Endpoint]:
    with Endpoint(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def _summary(url: str, limit_s: float = 10.0) -> str:
    async def ask() -> str:
        return await chat(url, "tiny", limit_s=limit_s, environment={"PINFOLD_CHAT_KEY": KEY})(SAID, 100)

    return anyio.run(ask)


def _saying(text: str) -> Answer:
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}}]}


def test_a_model_is_asked_once_with_all_messages_and_the_key() -> None:
    with endpoint(lambda _: _saying(" Redis it is. ")) as server:
        assert _summary(server.url) == "Redis it is."
    [(path, authorization, body)] = server.asked
    assert (path, authorization, body["model"]) == ("/v1/chat/completions", f"Bearer {KEY}", "tiny")
    assert body["messages"][1]["content"] == "user: use Redis\n\nassistant: done"
    assert "At most 75 words" in body["messages"][0]["content"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_is_tried_once_more(status: int) -> None:
    with endpoint(lambda times: (status, {}) if times == 1 else _saying("fine")) as server:
        assert _summary(server.url) == "fine"
    assert len(server.asked) == 2


@pytest.mark.parametrize(("status", "times"), [(401, 1), (404, 1), (500, 2)])
def test_what_stays_is_a_clear_error_without_the_key(status: int, times: int) -> None:
    with endpoint(lambda _: (status, {"error": KEY})) as server, pytest.raises(ChatError) as told:
        _summary(server.url)
    assert len(server.asked) == times
    assert f"{server.url}/chat/completions gave no summary (status {status})" in str(told.value)
    assert KEY not in str(told.value)


@pytest.mark.parametrize("answer", [{}, {"choices": []}, {"choices": [{"message": {"content": " "}}]}, [1]])
def test_an_answer_without_a_summary_is_an_error(answer: object) -> None:
    with endpoint(lambda _: (200, answer)) as server, pytest.raises(ChatError, match="holds no summary"):
        _summary(server.url)


def test_an_endpoint_that_says_nothing_is_given_up_after_its_time() -> None:
    over = threading.Event()

    def wait(_: int) -> Answer:
        over.wait(20)
        return _saying("too late")

    begun = time.monotonic()
    with endpoint(wait) as server:
        with pytest.raises(ChatError, match="TimeoutError"):
            _summary(server.url, limit_s=0.3)
        over.set()
    assert time.monotonic() - begun < 10


def test_nobody_there_is_an_error() -> None:
    with endpoint(lambda _: _saying("")) as server:
        url = server.url
    with pytest.raises(ChatError, match="ConnectError"):
        _summary(url)


def test_an_endpoint_that_never_comes_to_an_end_is_given_up_after_its_time() -> None:
    over, drops = threading.Event(), []

    def drip(listener: socket.socket) -> None:
        for _ in range(2):  # tries
            line, _ = listener.accept()
            with line, suppress(OSError):  # of a caller that has given up
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n")
                while not over.wait(0.02):
                    line.sendall(b" ")
                    drops.append(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        dripping = threading.Thread(target=drip, args=(listener,))
        dripping.start()
        begun = time.monotonic()
        with pytest.raises(ChatError, match="TimeoutError"):
            _summary(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", limit_s=0.3)
        assert time.monotonic() - begun < 10
        over.set()
        dripping.join(10)
    assert len(drops) > 2


def test_a_key_in_the_address_is_used_and_in_no_error() -> None:
    with endpoint(lambda _: (404, {})) as server, pytest.raises(ChatError) as told:
        _summary(f"{server.url.replace('//', f'//anna:{KEY}@')}?key={KEY}")
    assert server.asked[0][0] == f"/v1/chat/completions?key={KEY}"
    assert f"{server.url}/chat/completions gave no summary (status 404)" in str(told.value)
    assert KEY not in str(told.value)


@pytest.mark.parametrize("url", ["", "x", "file:///etc/passwd", "http://", "http://[::1", "http://a:99999/"])
def test_what_is_no_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(InvalidInputError, match=r"It looks like http://127\.0\.0\.1"):
        chat(url, "tiny")


def test_an_address_that_no_client_can_ask_is_an_error_of_one_line() -> None:
    with pytest.raises(ChatError, match="InvalidURL") as told:
        _summary(f"http://{'a' * 70_000}/")
    assert len(str(told.value)) < 400
