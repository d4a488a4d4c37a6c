"""What a server over HTTP notes: a line of JSON for each request, and nothing that was said in any. P26."""

from __future__ import annotations

import json
from pathlib import Path

from tests.faults.test_silent_log import CANARY, TALKATIVE
from tests.http.changed import broken, traced
from tests.http.doors import SAMPLES
from tests.http.serving import JSON_HEADERS, Served, bearer, served
from tests.warm.server import nothing

KEYS = ["time", "http", "status", "ms", "token", "project", "method", "tool", "failed"]


def _talk(server: Served) -> str:
    """Say the canary wherever something can be said; return the token."""
    token = server.token("anna", "shop")
    server.call(token, "shop", "spill_artifact", content=f"{CANARY} " * 2_000, label=CANARY)
    server.call(token, "shop", "pin_decision", text=CANARY, why=CANARY, kind=CANARY)
    server.call(token, "shop", "search_history", query=CANARY)
    server.call(token, "shop", "fetch_pointer", pointer="A1", match=CANARY)
    server.call(token, "shop", CANARY)
    server.rpc(token, "/p/shop/mcp", CANARY)
    server.rpc(token, "/p/shop/mcp", "resources/read", uri=f"pinfold://{CANARY}")
    server.rpc(CANARY, f"/p/{CANARY}/mcp", "tools/list")
    server.ask("GET", f"/{CANARY}?{CANARY}", headers={"Host": CANARY})
    server.ask("GET", "/health", headers={"Origin": f"http://{CANARY}", CANARY: CANARY})
    server.ask("POST", "/p/shop/mcp", CANARY.encode(), JSON_HEADERS | bearer(token))
    server.ask(CANARY, "/health")
    return token


def test_each_request_is_one_line_that_says_who_and_what_and_how_it_went(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        token = server.token("bert", "said")
        server.call(token, "said", "pin_decision", **SAMPLES["pin_decision"])
        server.call(token, "said", "fetch_pointer", pointer="P9")
        server.rpc(token, "/p/said/mcp", "tools/list")
        server.rpc(token, "/p/not-theirs/mcp", "tools/list")
        server.rpc(None, "/p/said/mcp", "tools/list")
        assert server.ask("GET", "/health").status == 200
        lines = server.lines(5)
    assert [list(line) for line in lines] == [KEYS] * 5
    assert [[line[key] for key in KEYS if key not in ("time", "ms")] for line in lines] == [
        ["POST", 200, "bert", "said", "tools/call", "pin_decision", False],
        ["POST", 200, "bert", "said", "tools/call", "fetch_pointer", True],
        ["POST", 200, "bert", "said", "tools/list", None, False],
        ["POST", 404, "bert", None, None, None, False],
        ["POST", 401, None, None, None, None, False],
    ]
    assert all(0 < line["ms"] < 60_000 for line in lines)


def test_the_log_holds_nothing_that_was_said_however_talkative(tmp_path: Path) -> None:
    with served(tmp_path, first=nothing, **TALKATIVE) as server:
        token = _talk(server)
        server.lines(12)
        server.end()
        noted = server.noted()
    assert CANARY not in noted
    assert token not in noted


def test_a_bug_is_told_by_its_place_and_its_caller_learns_no_more(tmp_path: Path) -> None:
    with served(tmp_path, first=broken) as server:
        token = server.token("anna", "shop")
        reply = server.call(token, "shop", "pin_decision", text=CANARY, why=CANARY)
        assert "failed inside pinfold" in reply.text
        noted = server.noted()
    assert "RuntimeError" in noted
    assert "error in some.library, changed.py line" in noted
    assert CANARY not in noted


def test_spans_of_the_protocol_are_made_for_who_asks_for_them_and_hold_nothing_that_was_said(
    tmp_path: Path,
) -> None:
    spans = tmp_path / "spans"
    with served(tmp_path, first=traced, SPANS=str(spans)) as server:
        token = server.token("anna", "shop")
        server.call(token, "shop", "pin_decision", text=CANARY, why=CANARY)
        server.call(token, "shop", "search_history", query=CANARY)
    made = [json.loads(line)["name"] for line in spans.read_text().splitlines()]
    assert made == ["tools/call pin_decision", "tools/call search_history"]
    assert CANARY not in spans.read_text()
    assert token not in spans.read_text()
