"""Who gets in, over real connections: only whoever has the address, called by its own name, and only to read."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pinfold.server.ui.gate import Gate
from pinfold.server.ui.routes import NAMED
from tests.server.person import Project, with_a_past
from tests.ui.served import Answer, Served, serving

OURS = "Host: 127.0.0.1:{port}"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return with_a_past(tmp_path_factory.mktemp("ui") / "demo")


@pytest.fixture(scope="module")
def served(project: Project) -> Iterator[Served]:
    with serving(project.folder, project.home) as running:
        yield running


def _asked(served: Served, path: str, *headers: str, method: str = "GET") -> Answer:
    lines = [header.format(port=served.port) for header in headers or (OURS,)]
    return served.asks(f"{method} {path.format(token=served.token)} HTTP/1.1", *lines)


REFUSED = {
    "no token": ("/", (OURS,)),
    "a page without a token": ("/pins", (OURS,)),
    "the icon that browsers ask for": ("/favicon.ico", (OURS,)),
    "a wrong token": (f"/{'A' * 43}/", (OURS,)),
    "a part of the token": ("/{token:.42}/", (OURS,)),
    "more than the token": ("/{token}A/", (OURS,)),
    "the token without a slash": ("/{token}", (OURS,)),
    "the token behind something": ("/x/{token}/", (OURS,)),
    "the token as a parameter": ("/?token={token}", (OURS,)),
    "letters of no alphabet": ("/%ff%fe%00/", (OURS,)),
    "another host": ("/{token}/", ("Host: attacker.example",)),
    "another host at our port": ("/{token}/", ("Host: attacker.example:{port}",)),
    "our host at another port": ("/{token}/", ("Host: 127.0.0.1:1",)),
    "our host without its port": ("/{token}/", ("Host: 127.0.0.1",)),
    "a host that begins like ours": ("/{token}/", ("Host: 127.0.0.1:{port}.attacker.example",)),
    "another method without a token": ("/", (OURS,)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_whoever_is_not_let_in_gets_the_one_answer(served: Served, case: str) -> None:
    path, headers = REFUSED[case]
    method = "POST" if "method" in case else "GET"
    refused = _asked(served, path, *headers, method=method)
    assert (refused.status, refused.body) == (404, "Nothing here.\n")
    assert refused == _asked(served, "/nowhere", OURS)


@pytest.mark.parametrize("page", [*NAMED, "P1", "s1", "pinfold.css", "charts.js"])
def test_every_page_is_open_with_the_token_and_closed_without(served: Served, page: str) -> None:
    assert served.get(page).status == 200
    assert _asked(served, f"/{page}", OURS) == _asked(served, "/nowhere", OURS)
    assert _asked(served, f"/{{token}}/{page}", "Host: attacker.example") == _asked(served, "/nowhere", OURS)


def test_the_address_is_reached_by_its_other_name_too(served: Served) -> None:
    assert _asked(served, "/{token}/", "Host: LOCALHOST:{port}").status == 200


def test_a_page_can_be_asked_about_without_being_sent(served: Served) -> None:
    asked = _asked(served, "/{token}/pins", method="HEAD")
    assert (asked.status, asked.body) == (200, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_but_reading_is_answered(served: Served, method: str) -> None:
    refused = _asked(served, "/{token}/pins", method=method)
    assert (refused.status, refused.header("allow")) == (405, "GET, HEAD")
    assert refused.body == "These pages are only for reading.\n"


def test_whatever_is_answered_tells_the_browser_to_load_nothing_and_to_tell_nobody(served: Served) -> None:
    for answer in (served.get(""), served.get("P999"), served.get("icon.svg"), _asked(served, "/nowhere")):
        policy = answer.header("content-security-policy")
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; ")
        assert "unsafe" not in policy
        assert answer.header("referrer-policy") == "no-referrer"
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("cross-origin-resource-policy") == "same-origin"
    assert served.get("pins").header("cache-control") == "no-store"


def test_a_page_has_no_address_but_its_own_servers(served: Served) -> None:
    for page in (*NAMED, "P1", "A1", "C1", "F1", "s1"):
        found = re.findall(r'(?:href|src|action)="([^"]*)"', served.get(page).body)
        assert found
        assert [each for each in found if ":" in each or each.startswith("/")] == []
        assert served.token not in served.get(page).body


def test_the_address_for_the_browsers_command_line_works_once() -> None:
    gate = Gate(_never, ["127.0.0.1:1"])
    assert gate.token not in (gate.ticket, Gate(_never, []).token)
    path = f"/{gate.ticket}"
    first, again = gate._refusal(_scope(path)), gate._refusal(_scope(path))
    assert first is not None
    assert (first.status_code, first.headers["location"]) == (303, f"/{gate.token}/")
    assert again is not None
    assert again.status_code == 404


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_only_who_is_let_in_puts_the_end_off() -> None:
    gate = Gate(_inside, ["127.0.0.1:1"])
    for path, is_visit in (("/wrong/", False), (f"/{gate.token}/", True)):
        gate.last_visit = 0
        await gate(_scope(path), _never, _inside)
        assert (gate.last_visit > 0) == is_visit


async def _inside(*_: object) -> None:
    """Answer nothing."""


async def _never(*_: object) -> NoReturn:
    raise AssertionError("not let in")


def _scope(path: str) -> dict[str, Any]:
    return {"type": "http", "method": "GET", "path": path, "headers": [(b"host", b"127.0.0.1:1")]}


def test_two_hosts_in_one_request_are_none(served: Served) -> None:
    answer = _asked(served, "/{token}/", OURS, "Host: attacker.example")
    assert answer.status in (400, 404)
    assert "<html" not in answer.body


@pytest.mark.skipif(sys.platform != "linux", reason="the list of what listens is Linux's")
def test_it_listens_on_this_machines_own_address_alone(served: Served) -> None:
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    port = f"{served.port:04X}"
    assert [place for place in listening if place.endswith(f":{port}") and place != f"0100007F:{port}"] == []
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", served.port), 5).close()


def test_looking_changes_nothing_in_the_store(project: Project, served: Served) -> None:
    before = _kept(project)
    for page in (*NAMED, "P1", "A1", "C1", "F1", "s1", "search?query=nothing+of+that+kind", "H99"):
        assert served.get(page).status in (200, 404)
    assert _kept(project) == before


def _kept(project: Project) -> dict[str, bytes]:
    folder = project.settings.store_folder
    kept = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
    assert "log.db" in kept
    return kept
