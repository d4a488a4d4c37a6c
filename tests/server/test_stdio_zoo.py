"""Whatever a client writes: each readable request is answered once, and the server goes on. P20, P21."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count

import pytest

from tests.server.peer import PATIENCE_S, Peer, call, request, text_of, toy

_ids = count(1000)


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    """One server for the whole zoo: what ends it, or loses an answer, fails every test that follows.

    Its locale and encoding cannot express most of what it is sent; neither may reach the wire.
    """
    with toy(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="cp1252") as peer:
        yield peer


def assert_serves(peer: Peer) -> None:
    """Prove that nothing but the expected answers was written, and that the server still works."""
    request_id = next(_ids)
    answer = peer.ask(call(request_id, "echo", text="still here"))
    assert (answer["id"], text_of(answer)) == (request_id, "still here")


def assert_refused(answer: object, code: int, request_id: object) -> None:
    assert isinstance(answer, dict)
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert (answer["error"]["code"], answer["id"]) == (code, request_id)


SOUND = {
    "carriage return": json.dumps(call(1, "echo", text="x")).encode() + b"\r",
    "carriage return and newline": json.dumps(call(1, "echo", text="x")).encode() + b"\r\n",
    "spaces around": b"  " + json.dumps(call(1, "echo", text="x")).encode() + b" \t\n",
    "blank lines before": b"\n\r\n \n" + json.dumps(call(1, "echo", text="x")).encode() + b"\n",
    "unknown members": json.dumps(call(1, "echo", text="x") | {"more": {}, "result": {}}).encode() + b"\n",
}


@pytest.mark.parametrize("line", SOUND.values(), ids=SOUND.keys())
def test_sound_request_in_an_unusual_line_is_served(peer: Peer, line: bytes) -> None:
    assert text_of(peer.ask(line)) == "x"
    assert_serves(peer)


@pytest.mark.parametrize(
    "text", ["\u2028\u2029\x85", "a\x00b", "naïve ★ 🎉 記憶", "\\ud800", "e\u0301\u200d\ufeff", "\x1b[0m"]
)
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "raw"])
def test_text_is_echoed_as_it_was_sent(peer: Peer, text: str, ascii_only: bool) -> None:
    line = json.dumps(call(1, "echo", text=text), ensure_ascii=ascii_only).encode() + b"\n"
    assert text_of(peer.ask(line)) == text
    assert_serves(peer)


REFUSED = {
    "broken": (b'{"jsonrpc":"2.0","id":1,"method":\n', -32700, 1),
    "broken, no id": (b'{"jsonrpc":\n', -32700, None),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n', -32700, 1),
    "not UTF-8 at all": (json.dumps(call(1, "echo")).encode("utf-16") + b"\n", -32700, None),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}\n', -32700, 1),
    "deep": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"x":' * 100_000 + b"\n", -32600, 1),
    "batch": (b"[" + json.dumps(call(1, "echo")).encode() + b"]\n", -32600, None),
    "no version": (b'{"id":1,"method":"ping"}\n', -32600, 1),
    "null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600, None),
    "repeated key": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}\n', -32600, 1),
    "lone surrogate": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}\n', -32602, 1),
    "long": (b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (10 << 20) + b'"}\n', -32600, 1),
    "unknown method": (json.dumps(request(1, "no/such")).encode() + b"\n", -32601, 1),
    "name with a newline": (json.dumps(request(1, "tools/list\n")).encode() + b"\n", -32601, 1),
    "missing tool name": (json.dumps(request(1, "tools/call")).encode() + b"\n", -32602, 1),
    "handshake in this era": (json.dumps(request(1, "initialize")).encode() + b"\n", -32022, 1),
}


@pytest.mark.parametrize(("line", "code", "request_id"), REFUSED.values(), ids=REFUSED.keys())
def test_unacceptable_line_is_answered_once_and_the_server_goes_on(
    peer: Peer, line: bytes, code: int, request_id: object
) -> None:
    assert_serves(peer)
    for _ in range(2):
        assert_refused(peer.ask(line), code, request_id)
    assert_serves(peer)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}\n',
        b'{"jsonrpc":"2.0","method":"no/such"}\n',
        b'{"jsonrpc":"2.0","method":"no/such","params":"x"}\n',
        b'{"jsonrpc":"2.0","method":"no/such","params":{"x":"\\udfff"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":"x"}\n',
        b'{"jsonrpc":"2.0","id":[],"error":{}}\n',
        b'{"id":1,"error":{"code":1,"message":"x"}}\n',
    ],
)
def test_what_nobody_waits_for_is_not_answered(peer: Peer, line: bytes) -> None:
    assert_serves(peer)
    peer.send(line)
    assert_serves(peer)


@pytest.mark.parametrize("request_id", [0, -7, 10**30, "", "7", "\x00\n", "\U0001f600", "x" * 5000])
def test_answer_carries_the_id_as_it_was_sent(peer: Peer, request_id: int | str) -> None:
    answer = peer.ask(call(request_id, "echo", text="x"))
    assert (answer["id"], type(answer["id"])) == (request_id, type(request_id))


def test_second_request_with_an_id_in_flight_is_refused_and_the_first_goes_on(peer: Peer) -> None:
    refusal = peer.ask(call(5, "sleep", s=0.2), call(5, "echo", text="second"))
    assert_refused(refusal, -32600, None)
    answer = peer.receive()
    assert answer is not None
    assert (answer["id"], text_of(answer)) == (5, "slept")
    assert text_of(peer.ask(call(5, "echo", text="free again"))) == "free again"


def test_broken_line_with_an_id_in_flight_does_not_answer_for_the_first(peer: Peer) -> None:
    assert_refused(peer.ask(call(5, "sleep", s=0.2), b'{"jsonrpc":"2.0","id":5,"method"\n'), -32700, None)
    answer = peer.receive()
    assert answer is not None
    assert (answer["id"], text_of(answer)) == (5, "slept")


def test_number_and_its_string_are_two_ids(peer: Peer) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}}
    peer.send(call(8, "sleep", s=0.2), call("8", "sleep", s=0.2), cancel)
    assert {repr(answer["id"]) for answer in (peer.receive(), peer.receive()) if answer} == {"8", "'8'"}
    assert_serves(peer)


@pytest.mark.parametrize("where", ["task", "thread"])
def test_cancelled_request_is_not_answered_and_frees_its_id(peer: Peer, where: str) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}}
    peer.send(call(6, "sleep", s=0.3, where=where), cancel)
    assert_serves(peer)
    deadline = time.monotonic() + PATIENCE_S
    while "error" in (answer := peer.ask(call(6, "echo", text="free again"))):
        assert_refused(answer, -32600, None)
        assert time.monotonic() < deadline
    assert text_of(answer) == "free again"


def test_hundreds_of_requests_at_once_are_each_answered_once(peer: Peer) -> None:
    ids = [f"burst {number}" for number in range(500)]
    peer.send(*(call(one, "echo", text=one) for one in ids))
    answers = [peer.receive() for _ in ids]
    assert sorted((answer["id"], text_of(answer)) for answer in answers if answer) == sorted(
        zip(ids, ids, strict=True)
    )
    assert_serves(peer)


def test_largest_line_is_served(peer: Peer) -> None:
    whole = call("large", "echo", text="")
    room = 9 * 1024 * 1024 - len(json.dumps(whole))
    whole["params"]["arguments"]["text"] = "x" * room
    assert len(text_of(peer.ask(whole))) == room
    whole["params"]["arguments"]["text"] += "x"
    assert_refused(peer.ask(whole), -32600, "large")
    assert_serves(peer)
