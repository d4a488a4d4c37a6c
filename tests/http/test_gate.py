"""Who gets in: a token by the project and the right that it was made for, and nobody else. P27, P28."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pinfold.tools import TOOLS
from tests.http.doors import SAMPLES, requests, routes
from tests.http.serving import JSON_HEADERS, Served, bearer, served

DOORS = requests()
NAMES = [f"{method} {params.get('name') or params.get('uri') or ''}".strip() for method, params in DOORS]
WRITING = [tool.name for tool in TOOLS if not tool.annotations["read_only"]]
READING = [tool.name for tool in TOOLS if tool.annotations["read_only"]]
HOUR = timedelta(hours=1)


def _not_tokens(server: Served) -> dict[str, str | None]:
    """Return what opens nothing: no token, strange ones, one that was taken back, one whose time is over."""
    revoked = server.token("gone", "open-to-all")
    server.tokens.revoke("gone")
    good = server.token(f"good-{time.monotonic_ns()}", "open-to-all")
    over = server.token(f"over-{time.monotonic_ns()}", "open-to-all", expires=datetime.now(UTC) - HOUR)
    return {"none": None, "wrong": "pinfold_x", "cut": good[:-1], "revoked": revoked, "expired": over}


@pytest.mark.parametrize(("method", "params"), DOORS, ids=NAMES)
def test_no_request_is_answered_without_a_token_that_stands(
    server: Served, method: str, params: dict[str, object]
) -> None:
    refused = {
        name: server.rpc(token, "/p/open-to-all/mcp", method, **params)
        for name, token in _not_tokens(server).items()
    }
    assert {name: reply.status for name, reply in refused.items()} == dict.fromkeys(refused, 401)
    assert {reply.body for reply in refused.values()} == {
        b"A token of this server is needed: Authorization: Bearer TOKEN.\n"
    }
    assert not (server.home / "projects" / "open-to-all").exists()


@pytest.mark.parametrize("path", ["", "/p/open-to-all"], ids=["unnamed", "named"])
def test_no_route_is_answered_without_a_token(server: Served, path: str) -> None:
    found = [*routes(), ("GET", "/"), ("GET", "/docs"), ("POST", "/register"), ("OPTIONS", "/mcp")]
    assert ("POST", "/mcp") in found
    answers = {place: server.ask(place[0], f"{path}{place[1]}") for place in found}
    assert {place: reply.status for place, reply in answers.items()} == dict.fromkeys(found, 401)


def test_health_says_ok_to_anybody_and_nothing_else(server: Served) -> None:
    reply = server.ask("GET", "/health")
    assert (reply.status, reply.body) == (200, b"ok\n")
    assert server.ask("POST", "/health").status == 401
    assert server.ask("GET", "/health/").status == 401


@pytest.mark.parametrize(("method", "params"), DOORS, ids=NAMES)
def test_a_project_that_is_not_theirs_is_answered_as_one_that_is_not_there(
    server: Served, method: str, params: dict[str, object]
) -> None:
    name = f"{time.monotonic_ns()}"
    theirs, ours = server.token(f"t{name}", f"theirs-{name}"), server.token(f"o{name}", f"ours-{name}")
    assert server.call(theirs, f"theirs-{name}", "pin_decision", **SAMPLES["pin_decision"]).status == 200
    not_ours = server.rpc(ours, f"/p/theirs-{name}/mcp", method, **params)
    not_there = server.rpc(ours, f"/p/nowhere-{name}/mcp", method, **params)
    no_route = server.ask("POST", f"/p/ours-{name}/nowhere", b"{}", JSON_HEADERS | bearer(ours))
    assert not_ours.status == 404
    assert not_ours.same_to_a_caller() == not_there.same_to_a_caller() == no_route.same_to_a_caller()
    assert not (server.home / "projects" / f"nowhere-{name}").exists()


def test_not_theirs_takes_the_same_time_as_not_there(server: Served) -> None:
    """The fastest of many each: what is left then is the work, not the machine's other business."""
    theirs, ours = server.token("theirs-timed", "timed"), server.token("ours-timed", "ours-timed")
    assert server.call(theirs, "timed", "pin_decision", **SAMPLES["pin_decision"]).status == 200
    took: dict[str, list[float]] = {"timed": [], "no-such": []}
    for _ in range(60):
        for project, times in took.items():
            began = time.perf_counter()
            assert server.call(ours, project, "fetch_pointer", pointer="P1").status == 404
            times.append(time.perf_counter() - began)
    quick = {project: statistics.mean(sorted(times)[:10]) for project, times in took.items()}
    assert 0.6 < quick["timed"] / quick["no-such"] < 1.6


def test_a_pointer_of_another_project_leads_nowhere_as_one_that_never_was(server: Served) -> None:
    theirs, ours = server.token("theirs-p", "theirs-p"), server.token("ours-p", "ours-p")
    for tool, arguments in SAMPLES.items():
        assert server.call(theirs, "theirs-p", tool, **arguments).told["isError"] is False
    assert "zstd" in server.call(theirs, "theirs-p", "fetch_pointer", pointer="P1").text
    for pointer in ("P1", "A1", "A1#L1-2", "C1", "S1", "H1", "F1"):
        guessed = server.call(ours, "ours-p", "fetch_pointer", pointer=pointer)
        far = pointer.replace("1", "97", 1)
        never = server.call(ours, "ours-p", "fetch_pointer", pointer=far)
        assert guessed.told["isError"] is True
        assert guessed.text.replace(pointer.split("#")[0], "…") == never.text.replace(far.split("#")[0], "…")
    assert server.call(ours, "ours-p", "search_history", query="zstd").told["structuredContent"]["hits"] == []


@pytest.mark.parametrize("tool", WRITING)
def test_a_token_that_may_only_read_calls_no_tool_that_writes(server: Served, tool: str) -> None:
    reader = server.token(f"reader-{tool}", f"read-{tool}", may_write=False)
    reply = server.call(reader, f"read-{tool}", tool, **SAMPLES[tool])
    assert reply.told["isError"] is True
    assert "here it can only be read; nothing was written" in reply.text


def test_a_token_that_may_only_read_leaves_nothing_in_the_log(server: Served) -> None:
    writer, reader = server.token("w", "read-log"), server.token("r", "read-log", may_write=False)
    server.call(writer, "read-log", "pin_decision", **SAMPLES["pin_decision"])
    receipt = server.call(writer, "read-log", "checkpoint_state", goal="before").told["structuredContent"][
        "receipt"
    ]
    for method, params in DOORS:
        assert server.rpc(reader, "/p/read-log/mcp", method, **params).status in (200, 400)  # 400: no A1 here
    missed = server.call(reader, "read-log", "search_history", query="nothing has this word")
    assert missed.told["structuredContent"]["hits"] == []
    assert "search" not in missed.told["structuredContent"]
    flagged = server.call(reader, "read-log", "search_history", query="zstd", missed="S1")
    assert "here it can only be read" in flagged.text
    after = server.call(writer, "read-log", "checkpoint_state", goal="after").told["structuredContent"][
        "receipt"
    ]
    assert int(after.split(":")[0]) == int(receipt.split(":")[0]) + 1


@pytest.mark.parametrize("tool", READING)
def test_a_token_that_may_only_read_reads(server: Served, tool: str) -> None:
    writer = server.token(f"w-{tool}", f"reads-{tool}")
    reader = server.token(f"r-{tool}", f"reads-{tool}", may_write=False)
    server.call(writer, f"reads-{tool}", "pin_decision", **SAMPLES["pin_decision"])
    reply = server.call(reader, f"reads-{tool}", tool, **SAMPLES[tool])
    assert reply.told["isError"] is False
    assert "zstd level 7" in reply.text


def test_a_token_in_the_address_or_given_twice_opens_nothing(server: Served) -> None:
    token = server.token("addressed", "addressed")
    assert server.rpc(token, "/p/addressed/mcp", "tools/list").status == 200
    assert server.rpc(None, f"/p/addressed/mcp?token={token}", "tools/list").status == 401
    with server.connection() as line:
        line.putrequest("POST", "/p/addressed/mcp")
        for _ in range(2):
            line.putheader("Authorization", f"Bearer {token}")
        line.putheader("Content-Length", "0")
        line.endheaders()
        assert line.getresponse().status == 401


def test_a_token_is_taken_however_its_scheme_is_written(server: Served) -> None:
    token = server.token("written", "written")
    for scheme, status in (("Bearer", 200), ("bearer", 200), ("BEARER", 200), ("Basic", 401)):
        reply = server.ask("GET", "/p/written/store", headers={"Authorization": f"{scheme} {token}"})
        assert (scheme, reply.status) == (scheme, status)


def test_a_token_is_refused_from_the_moment_it_is_taken_back(server: Served) -> None:
    token = server.token("short", "short")
    assert server.rpc(token, "/p/short/mcp", "tools/list").status == 200
    server.tokens.revoke("short")
    assert server.rpc(token, "/p/short/mcp", "tools/list").status == 401


def test_a_token_of_one_project_needs_no_name_and_one_of_two_does(server: Served) -> None:
    one, two = server.token("one", "first"), server.token("two", "first", "second")
    assert server.rpc(one, "/mcp", "tools/list").status == 200
    assert server.rpc(two, "/mcp", "tools/list").status == 404
    assert server.rpc(two, "/p/second/mcp", "tools/list").status == 200


@pytest.mark.parametrize("project", ["../home", "..", "%2e%2e", "a%2fb", ".hidden", "A", "a" * 65, ""])
def test_no_path_leads_out_of_the_projects(server: Served, project: str) -> None:
    token = server.token(f"out-{time.monotonic_ns()}", "inside", "other")
    assert server.rpc(token, f"/p/{project}/mcp", "tools/list").status == 404


def test_no_file_of_the_servers_machine_is_read(server: Served, tmp_path: Path) -> None:
    file = tmp_path / "secret.log"
    file.write_text("zugzwang")
    token = server.token("reader-of-files", "files")
    for path in (str(file), "secret.log", "/etc/hostname", "tokens/tokens.json"):
        reply = server.call(token, "files", "spill_artifact", path=path)
        assert reply.told["isError"] is True
        assert "`path` would name a file on the server's machine, and over HTTP none is read." in reply.text


def test_a_server_whose_tokens_cannot_be_read_lets_nobody_in_and_says_why_in_its_log(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        token = server.token("anna", "shop")
        file = server.tokens.folder / "tokens.json"
        whole = file.read_bytes()
        file.write_bytes(b"[")
        reply = server.rpc(token, "/p/shop/mcp", "tools/list")
        assert (reply.status, reply.body) == (503, b"The server cannot read its tokens; its log says why.\n")
        assert reply.headers["retry-after"] == "5"
        assert "tokens.json is damaged" in server.lines(2)[0]["note"]
        file.write_bytes(whole)
        assert server.rpc(token, "/p/shop/mcp", "tools/list").status == 200
