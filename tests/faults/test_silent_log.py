"""What stands on stderr when everything is as talkative as the environment can make it, and a bug strikes. P26."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.server.peer import Peer, call, running

CANARY = "zugzwang-7f31"
TALKATIVE = {
    "PYTHONDEVMODE": "1",
    "PYTHONASYNCIODEBUG": "1",
    "PYTHONWARNINGS": "always",
    "PINFOLD_LOG": "debug",
    "PINFOLD_LOG_LEVEL": "DEBUG",
    "LOG_LEVEL": "DEBUG",
    "LOGLEVEL": "DEBUG",
    "MCP_LOG_LEVEL": "DEBUG",
    "FASTMCP_LOG_LEVEL": "DEBUG",
    "DEBUG": "1",
}
BUG = """
from pinfold.server.cli import main
from pinfold.store.sql import pinning, searching
def broken(*given, **named):
    raise RuntimeError(f"{given} {named}")
pinning._append = searching._look = broken
main([])
"""


def _talk(peer: Peer) -> str:
    """Use each tool with the canary, well and badly; return all that came back."""
    calls = [
        call(1, "spill_artifact", content=f"{CANARY} " * 2_000, label=CANARY),
        call(2, "pin_decision", text=CANARY, why=CANARY),
        call(3, "search_history", query=CANARY),
        call(4, "checkpoint_state", goal=CANARY, pending=[CANARY]),
        call(5, "fetch_pointer", pointer=CANARY),
        call(6, "pin_decision", text=CANARY, why=CANARY, kind=CANARY),
        call(7, "fetch_pointer", pointer="A1", match=CANARY),
    ]
    told = json.dumps([peer.ask(each) for each in calls])
    peer.send(f'{{"jsonrpc": "2.0", "id": 8, "method": "{CANARY}", "params": {CANARY}}}\n'.encode())
    peer.receive()
    peer.stdin.close()
    assert peer.is_gone(10)
    return told


def test_stderr_holds_no_argument_and_no_result_however_talkative(home: Path, project: Path) -> None:
    ours = {"PINFOLD_HOME": str(home), "PINFOLD_PROJECT": str(project), **TALKATIVE}
    with running([sys.executable, "-m", "pinfold"], **ours) as peer:
        assert CANARY in _talk(peer)
        assert CANARY.encode() not in peer.noted


def test_a_bug_is_told_by_its_kind_and_place_and_not_by_what_it_was_about(home: Path, project: Path) -> None:
    ours = {"PINFOLD_HOME": str(home), "PINFOLD_PROJECT": str(project), **TALKATIVE}
    with running([sys.executable, "-c", BUG], **ours) as peer:
        told = _talk(peer)
        assert told.count("failed inside pinfold") == 2
        assert peer.noted.count(b"RuntimeError") >= 2
        assert b"broken" in peer.noted
        assert CANARY.encode() not in peer.noted
