"""A disk that takes no more while a server runs: its calls say so, reads go on, and it heals without a restart. P13."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults.inside.faults import Faults
from tests.faults.lines import Answer, Server

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("file_layer")]

BIG_BYTES = 10 * 1024 * 1024
"""More than a spill keeps in memory, and more than SQLite keeps of a write before the commit."""


def _receipt(answer: Answer) -> str:
    assert not answer.failed, answer.text
    return str(answer.facts["receipt"])


def _pin(server: Server, number: int) -> Answer:
    return server.call("pin_decision", text=f"decision {number}", why="measured", key=f"k{number}")


def _assert_refused(answer: Answer) -> None:
    assert answer.failed
    assert "nothing was written" in answer.text or "The outcome is unknown" in answer.text, answer.text


@pytest.mark.parametrize(
    "trouble",
    [
        "full",
        pytest.param("over a quota", marks=pytest.mark.full),
        pytest.param("read-only", marks=pytest.mark.full),
    ],
)
def test_a_server_on_a_disk_that_takes_no_more_reads_on_and_heals(
    tmp_path: Path, home: Path, project: Path, trouble: str
) -> None:
    switch, temporary = tmp_path / "trouble", tmp_path / "temporary"
    temporary.mkdir()
    big = project / "big.bin"
    big.write_bytes(random.Random(trouble).randbytes(BIG_BYTES))
    around = Faults(trouble=trouble, while_there=str(switch)).environment() | {"TMPDIR": str(temporary)}
    with Server(home, project, "server", around) as server:
        assert server.shake_hands()
        before = _receipt(_pin(server, 1))
        switch.touch()
        _assert_refused(_pin(server, 2))
        spilled = {"path": str(big), "label": "big", "key": "big"}
        _assert_refused(server.call("spill_artifact", **spilled))
        assert list(temporary.iterdir()) == []
        assert "decision 1" in server.call("fetch_pointer", pointer="P1").text
        assert "decision 1" in server.call("search_history", query="decision").text
        _assert_refused(_pin(server, 3))
        switch.unlink()
        healed = [_receipt(_pin(server, number)) for number in (1, 2, 3)]
        assert healed[0] == before
        _receipt(server.call("spill_artifact", **spilled))
        assert [_receipt(_pin(server, number)) for number in (1, 2, 3)] == healed
        assert list(temporary.iterdir()) == []
        assert server.leave() == 0
