"""Answers ahead of the SDK: what every client asks first has one fixed answer, and need not wait for imports.

The answers are frozen in `ahead.json` by `make docs`; a test holds that the SDK would give the same ones.
Anything out of the ordinary waits for the SDK. Source: docs/decisions/0008.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from pinfold.server.messages import Body, Message
from pinfold.server.wire import Wire

_META = "io.modelcontextprotocol/"
Answers = dict[str, dict[str, Any]]


def frozen_answers() -> Answers:
    """Return the frozen results: protocol version → method → result."""
    answers: Answers = json.loads(files("pinfold.server").joinpath("ahead.json").read_text("utf-8"))
    return answers


class Ahead:
    """Takes the first messages of a connection, on the reading thread."""

    def __init__(self) -> None:
        self._answers = frozen_answers()
        self._handshake: str | None = None

    def take(self, wire: Wire, message: Message) -> bool:
        """Answer a message if its answer is fixed; return whether the SDK need not see it any more.

        A handshake is answered and still handed on: the SDK has to know of it; its own answer finds no open request.
        """
        method = message.body.get("method")
        if message.id is None or not isinstance(method, str):
            return False
        version = self._version(method, message.body)
        result = self._answers.get(version or "", {}).get(method)
        if result is None:
            return False
        if method == "initialize":
            self._handshake = version
        wire.send({"jsonrpc": "2.0", "id": message.id, "result": result})
        return method != "initialize"

    def _version(self, method: str, body: Body) -> str | None:
        """Return the protocol version under which a message asks for nothing unusual."""
        params = body.get("params", {})
        if method == "initialize":
            return _plain_handshake(params)
        if params == {} and self._handshake is not None:
            return self._handshake
        return _plain_envelope(params) if self._handshake is None else None


def _plain_handshake(params: Any) -> str | None:
    if not isinstance(params, dict) or not {*params} <= {
        "protocolVersion",
        "capabilities",
        "clientInfo",
        "_meta",
    }:
        return None
    sound = _is_peer(params.get("clientInfo")) and isinstance(params.get("capabilities"), dict)
    version = params.get("protocolVersion")
    return version if sound and isinstance(version, str) else None


def _plain_envelope(params: Any) -> str | None:
    """Return the version of a request without handshake that carries its envelope and nothing else."""
    meta = params.get("_meta") if isinstance(params, dict) and {*params} == {"_meta"} else None
    if not isinstance(meta, dict):
        return None
    sound = _is_peer(meta.get(f"{_META}clientInfo")) and isinstance(
        meta.get(f"{_META}clientCapabilities"), dict
    )
    version = meta.get(f"{_META}protocolVersion")
    return version if sound and isinstance(version, str) else None


def _is_peer(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("name", "version"))
