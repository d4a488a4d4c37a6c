"""Where a server may listen: on this machine as it is, elsewhere for tokens alone."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pinfold.server.commands import http_serving
from pinfold.server.http.listening import ListenAddress, read_listen_address
from pinfold.server.http.names import Names
from pinfold.server.settings import read_settings
from pinfold.store.errors import InvalidInputError
from pinfold.store.remote.address import is_loopback
from tests.http.doors import SAMPLES
from tests.http.serving import Served, run, served


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.7:7463", "team.example:7463"])
def test_other_machines_are_let_in_by_tokens_alone(tmp_path: Path, address: str) -> None:
    done = run(tmp_path, "serve", "--http", address)
    assert done.returncode == 1
    assert "can be reached from other machines, and there is no token yet." in done.stderr
    assert "Add one: pinfold token add NAME --project PROJECT." in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("7463", ListenAddress("127.0.0.1", 7463)),
        ("localhost:80", ListenAddress("localhost", 80)),
        ("[::1]:0", ListenAddress("::1", 0)),
        ("0.0.0.0:8443", ListenAddress("0.0.0.0", 8443)),
    ],
)
def test_an_address_is_read(text: str, address: ListenAddress) -> None:
    assert read_listen_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "host", "127.0.0.1:", ":80:80", "::1:80", "a b:80", "host:65536", "http://x:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="This is no address to listen at"):
        read_listen_address(text)


def test_loopback_is_known_by_its_numbers() -> None:
    hosts = ["127.0.0.1", "127.8.8.8", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example"]
    assert [is_loopback(host) for host in hosts] == [True, True, True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("came_in_at", "host", "known"),
    [
        ("10.0.0.5", "10.0.0.5:7463", True),
        ("10.0.0.5", "localhost", False),
        ("10.0.0.5", "10.0.0.6", False),
        ("::ffff:10.0.0.5", "10.0.0.5:7463", True),
        ("::ffff:127.0.0.1", "localhost:7463", True),
        ("fd00::5", "[fd00::5]:7463", True),
        ("fd00::5", "team.example", True),
        ("fd00::5", "other.example", False),
    ],
)
def test_it_answers_to_the_address_it_was_called_at_and_to_the_names_allowed(
    came_in_at: str, host: str, *, known: bool
) -> None:
    assert Names.of(["team.example"]).knows_host(host, came_in_at) is known


@pytest.mark.parametrize("name", ["https://team.example", "team.example:443", "a b", "", "*"])
def test_what_is_no_host_name_is_not_allowed_as_one(name: str) -> None:
    with pytest.raises(InvalidInputError, match="--allow-host takes the name of a host alone"):
        Names.of([name])


def test_names_without_http_are_a_mistake(tmp_path: Path) -> None:
    done = run(tmp_path, "serve", "--allow-host", "team.example")
    assert done.returncode == 2
    assert "--allow-host belongs to --http." in done.stderr


def test_an_address_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(tmp_path, "serve", "--http", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    assert "Another program listens there: choose another port." in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("variable", ["PINFOLD_URL", "PINFOLD_STORE"])
def test_a_server_does_not_serve_one_project_of_another_server_under_every_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setattr(http_serving, "serve_over_http", lambda _plan, _say: 0)
    ours = {"PINFOLD_HOME": str(tmp_path / "home"), "PINFOLD_PROJECT": str(tmp_path)}
    assert http_serving.serve_http(read_settings(ours), "0", ()) == 0
    with pytest.raises(InvalidInputError, match="every project here would lead to it"):
        http_serving.serve_http(
            read_settings(ours | {variable: "https://pinfold.example.com/p/shop"}), "0", ()
        )


def test_without_tokens_the_folders_project_is_open_and_no_other(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert server.greeting == f"http://127.0.0.1:{server.port}/mcp\n"
        told = server.rpc(None, "/mcp", "tools/call", name="pin_decision", arguments=SAMPLES["pin_decision"])
        assert told.told["structuredContent"]["project"] == "project"
        assert server.call(None, "another", "fetch_pointer", pointer="pins").status == 404
        for name in ("X-Forwarded-For", "Forwarded", "Via"):  # a proxy brings callers of other machines
            assert server.ask("POST", "/mcp", b"{}", {name: "192.0.2.7"}).status == 401
        (store,) = (server.home / "projects").iterdir()
        assert store.name.startswith("project-")
        _closes_for_good(server)


def _closes_for_good(server: Served) -> None:
    """The first token ends it, and neither taking that one back nor losing the file opens it again."""
    server.token("anna", "shop")
    assert server.rpc(None, "/mcp", "tools/list").status == 401
    server.tokens.revoke("anna")
    assert server.rpc(None, "/mcp", "tools/list").status == 401
    (server.home / "tokens" / "tokens.json").unlink()
    assert server.rpc(None, "/mcp", "tools/list").status == 401
