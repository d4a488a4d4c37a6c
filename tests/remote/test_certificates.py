"""A server behind TLS is spoken to where its certificate holds, and nothing is sent where it does not."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from pinfold.store.errors import UnreachableError
from pinfold.store.remote.address import read_address
from pinfold.store.remote.direct import open_remote_direct
from pinfold.store.remote.introduction import Introduction
from pinfold.store.remote.replies import KIND

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="there is no openssl to make a certificate"
)

NEW = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for `localhost` alone, its key in the same file."""
    made = tmp_path / "both.pem"
    more = [
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        str(tmp_path / "key"),
        "-out",
        str(tmp_path / "cert"),
    ]
    subprocess.run([*NEW.split(), *more], check=True, capture_output=True, timeout=30)
    made.write_bytes((tmp_path / "cert").read_bytes() + (tmp_path / "key").read_bytes())
    return made


@contextmanager
def behind_tls(certificate: Path, heard: list[bytes]) -> Iterator[int]:
    """Introduce a project over TLS to whoever asks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    body = Introduction("app", b"key").line()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"

    told = answer % (KIND.encode(), len(body), body)

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                plain, _ = listening.accept()
                with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as line:
                    heard.append(line.recv(65536))
                    line.sendall(told)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_a_certificate_of_ones_own_authority_holds_when_it_is_named(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    heard: list[bytes] = []
    with behind_tls(certificate, heard) as port:
        address = read_address(f"https://localhost:{port}", "sesame")
        with closing(open_remote_direct(address, "here")) as store:
            assert store.project == "app"
    assert b"Bearer sesame" in heard[0]


@pytest.mark.parametrize(("host", "is_known"), [("localhost", False), ("127.0.0.1", True)])
def test_no_token_goes_to_a_server_whose_certificate_does_not_hold(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, host: str, *, is_known: bool
) -> None:
    if is_known:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    heard: list[bytes] = []
    with behind_tls(certificate, heard) as port:
        address = read_address(f"https://{host}:{port}", "sesame")
        with pytest.raises(UnreachableError, match="its certificate does not hold"):
            open_remote_direct(address, "here")
    assert heard == []
