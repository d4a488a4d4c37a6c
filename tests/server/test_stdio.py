"""The SDK behind the armour: both eras, misbehaving tools, a clean stdout. Source: P19 to P21, L2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.peer import PATIENCE_S, ROOT, TOY, Answer, Peer, call, environment, request, text_of, toy


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    with toy() as peer:
        yield peer


def legacy(request_id: int, method: str, **params: object) -> Answer:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def initialize(version: str) -> Answer:
    who = {"name": "peer", "version": "1"}
    return legacy(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=who)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_client_that_sends_its_handshake_at_once_is_served_in_its_version(version: str) -> None:
    with toy() as peer:
        begun = peer.ask(initialize(version), INITIALIZED, legacy(1, "tools/list"))
        assert (begun["id"], begun["result"]["protocolVersion"]) == (0, version)
        listed = peer.receive()
        assert listed is not None
        assert [tool["name"] for tool in listed["result"]["tools"]] == ["echo", "sleep", "misbehave"]
        called = peer.ask(legacy(2, "tools/call", name="echo", arguments={"text": "x"}))
        assert (called["id"], text_of(called)) == (2, "x")
        failed = peer.ask(legacy(3, "tools/call", name="misbehave", arguments={"how": "ValueError"}))
        assert (failed["id"], failed["error"]["code"]) == (3, -32603)
        peer.stdin.close()
        assert (peer.rest(), peer.server.wait(PATIENCE_S)) == ([], 0)


def test_client_without_a_handshake_is_served(peer: Peer) -> None:
    found = peer.ask(request("d", "server/discover"))
    assert (found["id"], found["result"]["supportedVersions"]) == ("d", ["2026-07-28"])
    listed = peer.ask(request(1, "tools/list"))
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["echo", "sleep", "misbehave"]


RAISED = [
    "ValueError",
    "RecursionError",
    "MemoryError",
    "SystemExit",
    "KeyboardInterrupt",
    "GeneratorExit",
    "CancelledError",
    "StopIteration",
    "BaseExceptionGroup",
    "not a result",
]


@pytest.mark.parametrize("how", RAISED)
def test_whatever_a_tool_raises_is_answered_once_and_told_to_nobody(peer: Peer, how: str) -> None:
    answer = peer.ask(call(1, "misbehave", how=how))
    assert answer == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32603, "message": "The server failed on this request; its log says where."},
    }
    assert text_of(peer.ask(call(2, "echo", text="still here"))) == "still here"
    assert b"a secret value" not in peer.noted


def test_failure_is_logged_with_the_place_it_came_from(peer: Peer) -> None:
    peer.ask(call(1, "misbehave", how="ValueError"))
    peer.wait_for_note(b"tools/call failed with ValueError")
    peer.wait_for_note(b"in raise_it")


def test_half_characters_in_a_result_become_replacement_characters(peer: Peer) -> None:
    answer = peer.ask(call(1, "misbehave", how="lone surrogate"))
    assert text_of(answer) == "a\ufffdb\ufffdc\U0001f600"


def test_line_separators_in_a_result_arrive_escaped_and_unchanged(peer: Peer) -> None:
    assert text_of(peer.ask(call(1, "misbehave", how="line separators"))) == "a\u2028b\u2029c\x85d\x00e"


@pytest.mark.parametrize(
    ("how", "said", "noted"),
    [
        ("print", "printed", b"a print to the original"),
        ("fd 1", "written", b"raw bytes"),
        ("child", "child ended with 0", b"child ''"),
        ("warn", "warned", b"UserWarning: a warning"),
        ("read stdin", "''", b""),
    ],
)
def test_noise_goes_to_stderr_and_the_wire_stays_clean(peer: Peer, how: str, said: str, noted: bytes) -> None:
    assert text_of(peer.ask(call(1, "misbehave", how=how))) == said
    peer.wait_for_note(noted)
    assert text_of(peer.ask(call(2, "echo", text="still here"))) == "still here"


def test_requests_in_a_file_are_all_answered_and_the_end_of_the_file_ends_the_server(tmp_path: Path) -> None:
    lines = [json.dumps(call(number, "echo", text=str(number))) for number in range(1000)]
    (tmp_path / "in").write_text("\n".join(lines))
    with (tmp_path / "in").open() as source, (tmp_path / "out").open("w") as target:
        server = subprocess.run(
            [sys.executable, str(TOY)], stdin=source, stdout=target, env=environment(), timeout=PATIENCE_S
        )
    answers = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(1000))
    assert all(text_of(answer) == str(answer["id"]) for answer in answers)
    assert server.returncode == 0


def test_descriptors_that_do_not_block_carry_a_large_exchange_whole() -> None:
    """Some clients set O_NONBLOCK on pipes that they share with their servers."""
    source, stdin = os.pipe()
    stdout, target = os.pipe()
    os.set_blocking(source, False)
    os.set_blocking(target, False)
    with subprocess.Popen(
        [sys.executable, str(TOY)], stdin=source, stdout=target, env=environment()
    ) as server:
        os.close(source)
        os.close(target)
        with os.fdopen(stdin, "wb") as requests, os.fdopen(stdout, "rb") as answers:
            for number in range(3):
                requests.write(json.dumps(call(number, "misbehave", how="big")).encode() + b"\n")
                requests.flush()
                assert text_of(json.loads(answers.readline())) == "x" * 2_000_000
        assert server.wait(PATIENCE_S) == 0


def _peak_kib(peer: Peer) -> int:
    status = Path(f"/proc/{peer.server.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_line_of_a_hundred_mebibytes_is_skipped_in_bounded_memory(peer: Peer) -> None:
    assert text_of(peer.ask(call(1, "echo", text="x"))) == "x"
    before_kib = _peak_kib(peer)
    begin, end = b'{"jsonrpc":"2.0","id":"long","method":"m","params":{"text":"', b'"}}'
    peer.send(begin, *[b"x" * (1 << 20)] * 100)
    answer = peer.ask(end + b"\n")
    assert (answer["id"], answer["error"]["code"]) == ("long", -32600)
    assert (
        answer["error"]["message"]
        == f"The line has {len(begin) + (100 << 20) + 3:,} bytes; the limit is 9,437,184."
    )
    assert _peak_kib(peer) - before_kib < 20 * 1024


def test_stderr_that_nobody_reads_does_not_stop_the_wire(tmp_path: Path) -> None:
    os.mkfifo(gate := tmp_path / "gate")
    pipe = subprocess.PIPE
    command = [sys.executable, str(TOY), str(gate)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(b'{"jsonrpc":"2.0","method":"m","params":[]}\n' * 3000 + b"{}\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["error"]["code"] == -32600
        server.stdin.close()
        assert server.wait(PATIENCE_S) == 0
        assert len(server.stderr.read()) > 50_000


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_client_that_sends_without_reading_is_held_back_and_answered_in_the_end() -> None:
    """400 MiB are sent, 64 MiB may wait: the sender stands still until its answers are read."""
    with toy() as peer:
        line = call(0, "echo", text="x" * (4 << 20))
        sent: list[int] = []

        def send() -> None:
            for number in range(100):
                peer.send(line | {"id": number})
                sent.append(number)

        sender = threading.Thread(target=send)
        sender.start()
        before = -1
        while len(sent) > before:
            before = len(sent)
            sender.join(2)
        answers = [peer.receive() for _ in range(100)]
        sender.join(PATIENCE_S)
        assert sorted(answer["id"] for answer in answers if answer) == list(range(100))
        assert _peak_kib(peer) < 350 * 1024


def test_wire_and_lifetime_do_not_import_the_sdk() -> None:
    """So that reading can begin, and signals are heard, while the SDK is being imported."""
    code = "import sys, pinfold.server.wire, pinfold.server.lifetime; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, cwd=ROOT)
    assert b"pinfold.server.wire" in run.stdout.split()
    assert not {b"mcp", b"mcp_types", b"pydantic", b"anyio", b"asyncio"} & set(run.stdout.split())
