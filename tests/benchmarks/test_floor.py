"""The small client against the real floor server, over real pipes."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from benchmarks.bench import FLOOR
from benchmarks.client import Peer, PeerError, text_of
from benchmarks.memory import peak_bytes

ENVIRONMENT = {"PATH": os.environ.get("PATH", "")}
MIB = 1024 * 1024


def _floor(folder: Path, tool: str) -> Peer:
    return Peer([sys.executable, str(FLOOR), tool], ENVIRONMENT, folder)


def test_the_floor_lists_one_tool_and_answers_it(tmp_path: Path) -> None:
    with _floor(tmp_path, "noop") as peer:
        said = peer.greet()
        assert said["serverInfo"]["name"] == "floor"
        assert [tool["name"] for tool in peer.tools()] == ["noop"]
        assert text_of(peer.call("noop")) == "done"


def test_the_inserting_floor_has_stored_what_it_answered(tmp_path: Path) -> None:
    with _floor(tmp_path, "insert") as peer:
        peer.greet()
        for text in ("one", "two"):
            peer.call("insert", text=text)
    db = sqlite3.connect(tmp_path / "floor.db")
    found = db.execute("SELECT text FROM line ORDER BY number").fetchall()
    db.close()
    assert found == [("one",), ("two",)]


def test_a_server_that_ends_is_reported_with_what_it_said(tmp_path: Path) -> None:
    script = "import sys; sys.stderr.write('no luck today'); sys.exit(3)"
    with (
        Peer([sys.executable, "-c", script], ENVIRONMENT, tmp_path) as peer,
        pytest.raises(PeerError, match="no luck today"),
    ):
        peer.greet()


def test_a_tool_that_fails_is_an_error_and_not_a_fast_sample(tmp_path: Path) -> None:
    with _floor(tmp_path, "insert") as peer:
        peer.greet()
        with pytest.raises(PeerError):
            peer.call("insert")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_peak_memory_is_that_of_the_program_and_not_of_its_parent(tmp_path: Path) -> None:
    ballast = b"x" * (200 * MIB)
    with _floor(tmp_path, "noop") as peer:
        peer.greet()
        assert 10 * MIB < peak_bytes(peer.pid) < 150 * MIB < len(ballast) <= peak_bytes()
