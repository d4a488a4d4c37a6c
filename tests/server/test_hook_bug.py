"""A bug in pinfold is told by its kind and place: the words of a bug may be those of a conversation."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from pinfold.server import hook
from pinfold.server.hooks import session_start
from tests.server.hooking import Client

SAID = "correct horse battery staple"


class Streams:
    """Standard input with an event, and what a hook answers to it."""

    def __init__(self, payload: dict[str, object]) -> None:
        self.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode()))
        self.stdout = io.TextIOWrapper(io.BytesIO())
        self.stderr = io.StringIO()


def run(client: Client, monkeypatch: pytest.MonkeyPatch, broken: str) -> Streams:
    """Run a session start in which one of its steps has a bug."""

    def bug(*_: object) -> None:
        raise ValueError(SAID)

    for variable, value in client.environment().items():
        monkeypatch.setenv(variable, value)
    streams = Streams(client.payload(source="startup"))
    monkeypatch.setattr(session_start, broken, bug)
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(streams, name))
    assert hook.main(["session-start", "--client", "claude"]) == 0
    return streams


@pytest.mark.parametrize("broken", ["catch_up", "render_brief"])
def test_a_bug_is_told_by_its_kind_and_place_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    told = run(Client(tmp_path), monkeypatch, broken).stderr.getvalue()
    assert "ValueError (test_hook_bug.py, line " in told
    assert SAID not in told
    assert told.count("\n") == 1


def test_a_bug_in_reading_does_not_keep_the_brief_from_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    client.pin("the pool holds 8 connections")
    streams = run(client, monkeypatch, "catch_up")
    streams.stdout.flush()
    written = streams.stdout.buffer
    assert isinstance(written, io.BytesIO)
    assert b"the pool holds 8 connections" in written.getvalue()
