"""What cannot be asked of a team's server says why, and what to do; a token goes nowhere in clear."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pinfold.server.settings import read_settings
from pinfold.server.team import address_of
from pinfold.store.commands import PinDecision
from pinfold.store.errors import (
    InvalidInputError,
    PinfoldError,
    ReadOnlyError,
    RefusedError,
    UnknownOutcomeError,
    UnreachableError,
)
from pinfold.store.remote.address import read_address
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.remote.link import Patience
from pinfold.store.remote.machine import Machine
from pinfold.store.remote.replies import KIND
from pinfold.store.remote.team_server import TeamServer
from pinfold.store.values import Caller
from tests.http.serving import Served

ANNA = Caller("claude-code", "anna")


def reached(team: Served, project: str, token: str) -> RemoteSyncStore:
    return open_remote_direct(read_address(f"http://127.0.0.1:{team.port}/p/{project}", token), "here")


@pytest.mark.parametrize("token", ["wrong", "pinfold_" + "x" * 43])
def test_without_a_token_that_the_server_knows_nothing_is_told(
    team: Served, tmp_path: Path, token: str
) -> None:
    team.token(tmp_path.name.lower(), "demo")
    with pytest.raises(RefusedError, match=r"knows no such token.*PINFOLD_TOKEN"):
        reached(team, "demo", token)


def test_who_sets_no_token_is_not_told_of_a_wrong_one(team: Served) -> None:
    team.token("of-somebody", "demo")
    with pytest.raises(RefusedError, match=r"none is set.*PINFOLD_TOKEN"):
        reached(team, "demo", "")


def test_a_token_that_is_revoked_meanwhile_opens_nothing_more(team: Served) -> None:
    with closing(reached(team, "revoked", team.token("for-a-while", "revoked"))) as store:
        store.pin_decision(PinDecision(ANNA, "rule 1", "said"))
        team.tokens.revoke("for-a-while")
        with pytest.raises(RefusedError, match="revoked"):
            store.pin_decision(PinDecision(ANNA, "rule 2", "said"))


def test_another_project_is_not_there(team: Served) -> None:
    token = team.token("of-one", "one")
    for project in ("other", "one-that-nobody-has"):
        with pytest.raises(RefusedError, match="no such project for this token"):
            reached(team, project, token)


def test_a_token_to_read_reads_and_does_not_write(team: Served) -> None:
    with closing(reached(team, "shared", team.token("writer", "shared"))) as writer:
        writer.pin_decision(PinDecision(ANNA, "rule 1", "said"))
    with closing(reached(team, "shared", team.token("reader", "shared", may_write=False))) as reader:
        assert [pin.text for pin in reader.brief_state(None).pins] == ["rule 1"]
        with pytest.raises(ReadOnlyError, match="can only be read"):
            reader.pin_decision(PinDecision(ANNA, "rule 2", "said"))


@pytest.mark.parametrize(
    "url", ["http://10.1.2.3", "http://pinfold.example.com/p/app", "http://127.0.0.1.evil.org"]
)
def test_a_token_goes_in_clear_to_no_other_machine_unless_told(url: str) -> None:
    with pytest.raises(InvalidInputError, match=r"would go in clear.*https://.*PINFOLD_CLEAR=1"):
        address_of(url, {"PINFOLD_TOKEN": "t"})
    assert str(address_of(url, {"PINFOLD_TOKEN": "t", "PINFOLD_CLEAR": "1"})) == url


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:7463/p/app", "http://localhost", "http://[::1]:7463", "https://a.b/p/c"]
)
def test_an_address_is_shown_as_it_was_given_and_without_its_token(url: str) -> None:
    address = read_address(f"{url}/", "sesame")
    assert (str(address), "sesame" in repr(address)) == (url, False)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "ftp://a",
            "https://",
            "https://a:port",
            "https://a:0",
            "https://a/?x",
            "https://me:pw@a",
            "a.b",
        ),
        *(
            "https://a..b/p/c",
            f"https://{'a' * 64}.b",
            "https://a/p/c d",
            "https://a/p/\u65e5",
            "https://a/\x7f",
        ),
    ],
)
def test_what_is_no_address_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_address(url, "t")
    assert "pw" not in str(refused.value)


def test_a_token_file_is_taken_only_if_nobody_else_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("sesame\n")
    for mode in (0o604, 0o640):
        file.chmod(mode)
        with pytest.raises(InvalidInputError, match="Others can read"):
            address_of("https://a", {"PINFOLD_TOKEN_FILE": str(file)})
    file.chmod(0o600)
    assert address_of("https://a", {"PINFOLD_TOKEN_FILE": str(file)}).token == "sesame"
    with pytest.raises(InvalidInputError, match="cannot be read"):
        address_of("https://a", {"PINFOLD_TOKEN_FILE": str(tmp_path / "none")})


def test_a_token_with_a_line_end_in_it_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="The token is none"):
        read_address("https://a", "one\r\nX-Other: 2")


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((200, b"<html>\n", "text/html"), RefusedError, "no pinfold"),
        ((200, b"result {}\n"), RefusedError, "no pinfold"),
        ((200, b"result {"), UnreachableError, "the connection was cut"),
        ((200, b"error <html>\n"), RefusedError, "no pinfold"),
        ((200, b"error []\n"), RefusedError, "no pinfold"),
        ((200, b'error {"code": "not_found"}\n'), RefusedError, "no pinfold"),
        ((503, b""), UnreachableError, "HTTP status 503"),
        ((302, b""), RefusedError, "sends callers elsewhere, and no token goes along"),
        ((405, b""), RefusedError, "no such project"),
    ],
)
def test_whatever_else_answers_there_is_told_apart(
    answer: tuple[int, bytes], kind: type[PinfoldError], words: str
) -> None:
    with answering(*answer) as port, pytest.raises(kind, match=words):
        open_remote_direct(read_address(f"http://127.0.0.1:{port}", "t"), "here")


def test_a_server_without_tls_says_why_none_is_had(team: Served) -> None:
    address = read_address(f"https://127.0.0.1:{team.port}/p/app", "t")
    with pytest.raises(UnreachableError, match=r"no TLS with it: it speaks in clear, as http:// does"):
        open_remote_direct(address, "here")


@pytest.mark.parametrize("name", ["\u65e5\u672c", "---"])
def test_a_project_without_a_name_for_a_server_is_told_what_to_write(tmp_path: Path, name: str) -> None:
    url = {"PINFOLD_URL": "https://a/p/{project}"}
    (tmp_path / name).mkdir()
    (tmp_path / "My App").mkdir()
    assert read_settings(url, tmp_path / "My App").store == "https://a/p/my-app"
    with pytest.raises(InvalidInputError, match=r"in place of \{project\}"):
        read_settings(url, tmp_path / name)


@pytest.mark.parametrize("answer", [b"error []\n", b"progress x\nresult 1\n", b"progress [1]\nresult 1\n"])
def test_a_write_that_is_answered_with_nonsense_is_one_of_unknown_outcome(answer: bytes) -> None:
    with answering(200, answer) as port:
        server = TeamServer(read_address(f"http://127.0.0.1:{port}", "t"), Machine("here"), Patience())
        with closing(server), pytest.raises(UnknownOutcomeError, match="none of pinfold's"):
            server.ask("rebuild", (), lambda *_: None)


def test_a_server_that_says_nothing_is_waited_for_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = read_address(f"http://127.0.0.1:{silent.getsockname()[1]}", "t")
        with pytest.raises(UnreachableError, match="no answer in time"):
            open_remote_direct(address, "here", Patience(silence_s=0.2))
        silent.settimeout(0.2)
        silent.accept()[0].close()
        with pytest.raises(TimeoutError):
            silent.accept()


@contextmanager
def answering(status: int, body: bytes, kind: str = KIND) -> Iterator[int]:
    """Serve one answer to whatever is asked."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "/")
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
