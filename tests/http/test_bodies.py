"""What is no message on stdio is none over HTTP, in either era: nothing is altered, nothing is guessed. P20, P21."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.http.serving import JSON_HEADERS, Reply, Served, bearer
from tests.server.peer import META

CALL = (
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":%s,"name":"pin_decision",'
    b'"arguments":{"text":%s,"why":"measured"}}}'
)
UNSOUND = {
    "half a character": (b'"a\\ud800b"', "half a character"),
    "no UTF-8": (b'"a\xff\xfeb"', "not valid UTF-8"),
    "overlong UTF-8": (b'"\xc0\xaf"', "not valid UTF-8"),
    "not a number": (b"NaN", "NaN and infinite numbers are not JSON"),
    "one key twice": (b'"x","text":"y"', "the same key twice"),
    "65 levels deep": (b"[" * 65 + b"]" * 65, "nested deeper than 64 levels"),
    "a hundred thousand levels deep": (b"[" * 100_000 + b"]" * 100_000, "nested deeper than 64 levels"),
}
BROKEN = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"[" + CALL % (b"{}", b'"x"') + b"]",
    b"\xef\xbb\xbf{}",
    b'{"id":7}',
]


@pytest.fixture(scope="module")
def token(server: Served) -> str:
    return server.token("bodies", "bodies")


def _sent(server: Served, token: str, body: bytes, era: str) -> Reply:
    headers = JSON_HEADERS | bearer(token) | {"Mcp-Method": "tools/call", "Mcp-Name": "pin_decision"}
    if era == "older":
        headers = {name: text for name, text in headers.items() if not name.lower().startswith("mcp-")}
    return server.ask("POST", "/mcp", body, headers)


@pytest.mark.parametrize("era", ["newest", "older"])
@pytest.mark.parametrize("kind", UNSOUND)
def test_an_unsound_message_is_refused_with_its_flaw_and_nothing_is_stored(
    server: Served, token: str, kind: str, era: str
) -> None:
    text, flaw = UNSOUND[kind]
    meta = json.dumps(META).encode() if era == "newest" else b"{}"
    reply = _sent(server, token, CALL % (meta, text), era)
    assert reply.status == 400
    assert flaw in json.loads(reply.body)["error"]["message"]
    assert (
        server.call(token, "bodies", "fetch_pointer", pointer="pins").told["structuredContent"]["items"] == []
    )


@pytest.mark.parametrize("era", ["newest", "older"])
@pytest.mark.parametrize("body", BROKEN)
def test_what_is_no_request_gets_one_error_and_no_details_of_ours(
    server: Served, token: str, body: bytes, era: str
) -> None:
    reply = _sent(server, token, body, era)
    assert reply.status == 400
    error = json.loads(reply.body)["error"]
    assert set(error) == {"code", "message"}
    assert len(error["message"]) < 120


@pytest.mark.parametrize("path", ["mcp", "store/pin_decision"])
def test_a_message_whose_client_leaves_before_its_end_is_none_and_no_bug(
    server: Served, token: str, path: str
) -> None:
    before, noted = len(server.lines(0)), server.noted()
    begun = CALL % (b"{}", b'"cut off"')
    with server.connection() as left:
        left.putrequest("POST", f"/p/bodies/{path}")
        for name, text in (JSON_HEADERS | bearer(token) | {"Content-Length": str(len(begun) + 1)}).items():
            if not name.lower().startswith("mcp-"):
                left.putheader(name, text)
        left.endheaders(begun)
    assert _cut_off(server, before)["project"] == "bodies"
    assert "failed with" not in server.noted().removeprefix(noted)
    assert (
        server.call(token, "bodies", "fetch_pointer", pointer="pins").told["structuredContent"]["items"] == []
    )


def _cut_off(server: Served, before: int) -> dict[str, Any]:
    """Return the line about a request that was cut off; lines of earlier ones may come late."""
    for count in itertools.count(before + 1):
        found = [line for line in server.lines(count)[before:] if line["status"] == 0]
        if found:
            break
    return found[0]
