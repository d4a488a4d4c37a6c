"""Resources over the wire: pointers as a client spells them in a URI. Source: design 2."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.peer import Peer, call, request, running


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    folder: Path = tmp_path_factory.mktemp("project")
    home = str(tmp_path_factory.mktemp("home"))
    command = [sys.executable, "-m", "pinfold", "serve", "--project", str(folder)]
    with running(command, PINFOLD_HOME=home) as peer:
        peer.ask(call(1, "spill_artifact", content="one\ntwo\nthree\n"))
        yield peer


@pytest.mark.parametrize("uri", ["pinfold://A1#L2-3", "pinfold://A1%23L2-3", "PINFOLD://a1%23l2-3"])
def test_a_range_is_read_however_the_template_was_expanded(peer: Peer, uri: str) -> None:
    [content] = peer.ask(request(2, "resources/read", uri=uri))["result"]["contents"]
    assert "\ntwo\nthree\n" in content["text"]
    assert content["uri"] == uri


@pytest.mark.parametrize("uri", ["pinfold://A9", "pinfold://nonsense", "https://example.org/A1", ""])
def test_what_leads_nowhere_is_the_callers_error(peer: Peer, uri: str) -> None:
    error = peer.ask(request(3, "resources/read", uri=uri))["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})
