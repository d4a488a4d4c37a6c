"""Where a server is started: odd folders and unusable places, over real pipes. Source: design 1, Errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.server.peer import call, running, text_of


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes exist on Linux only")
def test_a_folder_whose_name_is_no_utf_8_is_a_project_like_any_other(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    command = [sys.executable, "-m", "pinfold", "serve", "--project", os.fsdecode(folder)]
    with running(command, PINFOLD_HOME=str(tmp_path / "home")) as peer:
        pinned = peer.ask(call(1, "pin_decision", text="use Redis", why="tokens expire"))
    assert text_of(pinned).startswith("P1 decision pinned")
    assert text_of(pinned).endswith("project: caf\ufffd")


def test_a_data_folder_that_cannot_be_made_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    command = [sys.executable, "-m", "pinfold", "serve", "--project", str(tmp_path)]
    with running(command, PINFOLD_HOME=str(tmp_path / "taken")) as peer:
        failed = peer.ask(call(1, "pin_decision", text="use Redis", why="tokens expire"))
    assert failed["result"]["isError"] is True
    assert text_of(failed).startswith("pin_decision: The store is read-only: ")
    assert "PINFOLD_HOME" in text_of(failed)
