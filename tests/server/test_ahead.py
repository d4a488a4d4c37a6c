"""Answers ahead of the SDK: while it cannot even be imported, and afterwards as if it had answered itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pinfold.server.ahead import frozen_answers

META = "io.modelcontextprotocol/"
PEER = {"name": "any", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": PEER}
ENVELOPE = {
    "_meta": {
        f"{META}protocolVersion": "2026-07-28",
        f"{META}clientInfo": PEER,
        f"{META}clientCapabilities": {},
    }
}


class Talk:
    def __init__(self, folder: Path, path: Path | None) -> None:
        extra = [str(path)] if path else []
        environment = os.environ | {
            "PINFOLD_HOME": str(folder / "home"),
            "PYTHONPATH": os.pathsep.join([*extra, *sys.path]),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pinfold"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=environment,
        )

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, **message: Any) -> Any:
        assert self.process.stdout is not None
        self.send(**message)
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == message["id"]
        return answer.get("result", answer.get("error"))

    def end(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(10)
        assert self.process.stdout.read() == b""
        self.process.stdout.close()
        return code


@pytest.fixture
def stuck_import(tmp_path: Path) -> Path:
    """A folder in which `import mcp_types` waits for a writer that never comes."""
    folder = tmp_path / "stuck"
    folder.mkdir()
    gate = folder / "gate"
    os.mkfifo(gate)
    (folder / "mcp_types.py").write_text(f"open({str(gate)!r}).read()\nraise ImportError('let go')\n")
    return folder


def test_a_handshake_and_the_tools_are_answered_while_the_sdk_is_not_even_imported(
    tmp_path: Path, stuck_import: Path
) -> None:
    frozen = frozen_answers()["2025-06-18"]
    talk = Talk(tmp_path, stuck_import)
    assert talk.ask(id=1, method="initialize", params=HELLO) == frozen["initialize"]
    talk.send(method="notifications/initialized")
    assert talk.ask(id=2, method="tools/list") == frozen["tools/list"]
    talk.process.kill()
    talk.process.communicate()


def test_discovery_is_answered_while_the_sdk_is_not_even_imported(tmp_path: Path, stuck_import: Path) -> None:
    frozen = frozen_answers()["2026-07-28"]
    talk = Talk(tmp_path, stuck_import)
    for request, method in enumerate(frozen):
        assert talk.ask(id=request, method=method, params=ENVELOPE) == frozen[method]
    talk.process.kill()
    talk.process.communicate()


def test_after_a_handshake_answered_ahead_the_sdk_goes_on(tmp_path: Path) -> None:
    talk = Talk(tmp_path, None)
    talk.ask(id=1, method="initialize", params=HELLO)
    talk.send(method="notifications/initialized")
    first = talk.ask(id=2, method="tools/list")
    called = {"name": "fetch_pointer", "arguments": {"pointer": "brief"}}
    assert not talk.ask(id=3, method="tools/call", params=called).get("isError", False)
    assert talk.ask(id=4, method="tools/list") == first
    assert talk.end() == 0


def test_without_a_handshake_the_sdk_goes_on_too(tmp_path: Path) -> None:
    talk = Talk(tmp_path, None)
    first = talk.ask(id=1, method="tools/list", params=ENVELOPE)
    called = {"name": "fetch_pointer", "arguments": {"pointer": "brief"}, **ENVELOPE}
    assert not talk.ask(id=2, method="tools/call", params=called).get("isError", False)
    assert talk.ask(id=3, method="tools/list", params=ENVELOPE) == first
    assert talk.end() == 0


def test_a_handshake_out_of_the_ordinary_is_left_to_the_sdk(tmp_path: Path) -> None:
    talk = Talk(tmp_path, None)
    unknown = talk.ask(id=1, method="initialize", params=HELLO | {"protocolVersion": "1999-01-01"})
    assert unknown["protocolVersion"] == "2025-11-25"
    assert talk.ask(id=2, method="initialize", params={"protocolVersion": "2025-06-18"})["code"] == -32602
    assert talk.end() == 0
