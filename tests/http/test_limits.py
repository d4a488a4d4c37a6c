"""What hostile or clumsy requests meet: names that are not ours, bodies without end, heads that never come."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import anyio
import pytest

from pinfold.server.http import answering
from pinfold.server.http.answering import Answer
from tests.http.changed import (
    short_of_calls,
    short_of_connections,
    short_of_descriptors,
    short_of_time,
    wait_for,
)
from tests.http.serving import JSON_HEADERS, Served, served
from tests.server.peer import PATIENCE_S

MiB = 1024 * 1024
HOSTS = {
    "127.0.0.1:{}": 200,
    "localhost:{}": 200,
    "LOCALHOST": 200,
    "localhost.:{}": 200,
    "[::1]:{}": 200,
    "team.example": 200,
    "evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "localhost.evil.example:{}": 421,
    "team.example.evil.example": 421,
    "127.0.0.1@evil.example": 421,
    "evil.example#127.0.0.1": 421,
    "127.0.0.1:{}:80": 421,
    "127.0.0.2": 421,
    "0.0.0.0": 421,
    "": 421,
}
ORIGINS = {
    "http://127.0.0.1:{}": 200,
    "https://team.example": 200,
    "http://localhost:3000": 200,
    "null": 403,
    "http://evil.example": 403,
    "http://127.0.0.1.evil.example": 403,
    "https://team.example.evil.example": 403,
    "file://": 403,
    "ftp://127.0.0.1": 403,
    "127.0.0.1:{}": 403,
    "": 403,
}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("named"), "--allow-host", "Team.example") as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("hasty"), first=short_of_time) as running:
        yield running


@pytest.mark.parametrize("path", ["/health", "/mcp"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_request_by_another_name_is_turned_away(named: Served, host: str, path: str) -> None:
    reply = named.ask("GET", path, headers={"Host": host.format(named.port)})
    assert reply.status == {200: {"/health": 200, "/mcp": 405}[path], 421: 421}[HOSTS[host]]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_origin_is_not_answered(named: Served, origin: str) -> None:
    reply = named.ask("GET", "/health", headers={"Origin": origin.format(named.port)})
    assert reply.status == ORIGINS[origin]


def test_two_names_or_none_are_turned_away(named: Served) -> None:
    for hosts in ("", "Host: 127.0.0.1\r\nHost: evil.example\r\n"):
        sent = f"GET /health HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode()
        assert _raw(named, sent).split(b" ")[1] in (b"400", b"421")


def test_no_answer_lets_another_origin_read_it(named: Served) -> None:
    """Without such headers a browser keeps what it got from the page that asked."""
    headers = {"Origin": f"http://localhost:{named.port}", "Access-Control-Request-Method": "POST"}
    for method, path in (("OPTIONS", "/mcp"), ("POST", "/mcp"), ("GET", "/health")):
        found = named.ask(method, path, headers=headers).headers
        assert [name for name in found if name.startswith("access-control")] == []
        assert found["cache-control"] == "no-store"


def test_a_call_that_a_form_could_send_is_not_taken(named: Served) -> None:
    sent = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert named.ask("POST", "/mcp", sent, JSON_HEADERS | {"Content-Type": kind}).status == 400


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
def test_a_body_over_the_limit_is_refused(named: Served, *, declared: bool) -> None:
    block = b" " * MiB
    length = {"Content-Length": str(10 * MiB)} if declared else {"Transfer-Encoding": "chunked"}
    with named.connection() as line:
        line.request(
            "POST", "/mcp", (block for _ in range(10)), JSON_HEADERS | length, encode_chunked=not declared
        )
        assert line.getresponse().status == 413
    assert named.ask("GET", "/health").status == 200


def test_a_large_body_within_the_limit_is_taken(named: Served) -> None:
    sent = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": "y" * (8 * MiB)}}}
    headers = {name: text for name, text in JSON_HEADERS.items() if name != "MCP-Protocol-Version"}
    assert named.ask("POST", "/mcp", json.dumps(sent).encode(), headers).told == {}


def test_a_body_that_stands_still_is_given_up(hasty: Served) -> None:
    head = "".join(f"{name}: {text}\r\n" for name, text in JSON_HEADERS.items())
    sent = f'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n{head}\r\n{{"jsonrpc"'.encode()
    answer = _raw(hasty, sent)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"nothing was done" in answer


@pytest.mark.parametrize(
    "begun", [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "], ids=len
)
def test_a_head_that_does_not_come_costs_its_connection(hasty: Served, begun: bytes) -> None:
    assert _raw(hasty, begun) == b""


def test_an_idle_connection_is_closed_after_its_time(hasty: Served) -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert _raw(hasty, whole).endswith(b"ok\n")


def test_it_takes_more_connections_than_a_shell_lets_it_have_files_open(tmp_path: Path) -> None:
    with served(tmp_path, first=short_of_descriptors) as server, ExitStack() as held:
        whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(80):
            line = held.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S))
            line.sendall(whole)
            assert line.recv(100).startswith(b"HTTP/1.1 200 ")


def test_half_a_second_request_costs_the_connection_too(hasty: Served) -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert _raw(hasty, whole + b"GET /hea").count(b"HTTP/1.1 200") == 1


def test_an_answer_that_nobody_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SILENCE_S", 0.05)

    async def unread(_message: object) -> None:
        await anyio.sleep_forever()

    async def answered() -> None:
        await Answer(unread)({"type": "http.response.body", "body": b"x"})

    with pytest.raises(TimeoutError):
        anyio.run(answered)


def test_more_connections_than_it_takes_are_closed_and_others_served(tmp_path: Path) -> None:
    with served(tmp_path, first=short_of_connections) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) for _ in range(4)]
        try:
            held[0].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert held[0].recv(100).startswith(b"HTTP/1.1 200 ")
            assert _raw(server, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") == b""
        finally:
            for each in held:
                each.close()
        assert _until_healthy(server)


def test_more_calls_than_it_takes_are_told_to_come_again(tmp_path: Path) -> None:
    held = tmp_path / "held"
    with served(tmp_path, first=short_of_calls, HELD=str(held)) as server, ThreadPoolExecutor(1) as aside:
        token = server.token("busy", "busy")
        call = aside.submit(server.call, token, "busy", "pin_decision", text="zstd", why="small")
        wait_for(held.with_suffix(".begun"))
        refused = server.call(token, "busy", "fetch_pointer", pointer="pins")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert b"nothing was done" in refused.body
        held.with_suffix(".let-go").touch()
        assert "P1 decision pinned" in call.result(PATIENCE_S).text
        assert server.call(token, "busy", "fetch_pointer", pointer="P1").status == 200


@pytest.mark.full
def test_ten_thousand_short_connections_leave_nothing_behind(named: Served) -> None:
    def descriptors() -> int:
        return len(list(Path(f"/proc/{named.process.pid}/fd").iterdir()))

    assert named.ask("GET", "/health").status == 200
    before = descriptors() if Path("/proc/self/fd").exists() else None
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    def come_and_go(number: int) -> bool:
        with closing(socket.create_connection(("127.0.0.1", named.port), PATIENCE_S)) as line:
            if number % 4 == 0:  # and some leave in the middle of their words
                line.sendall(whole[:20])
                return True
            line.sendall(whole)
            return line.recv(100).startswith(b"HTTP/1.1 200 ")

    with ThreadPoolExecutor(16) as many:
        assert all(many.map(come_and_go, range(10_000)))
    assert _until_healthy(named)
    if before is not None:
        ends = time.monotonic() + PATIENCE_S
        while descriptors() > before + 8:
            assert time.monotonic() < ends, descriptors()
            time.sleep(0.05)


def _until_healthy(server: Served) -> bool:
    """Whether it is, as soon as it has noticed that others left."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        try:
            if server.ask("GET", "/health").status == 200:
                return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def _raw(server: Served, sent: bytes) -> bytes:
    """Return all that comes until the server closes."""
    with closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)) as line:
        line.sendall(sent)
        found = b""
        try:
            while more := line.recv(65536):
                found += more
        except ConnectionResetError:
            pass
        return found
