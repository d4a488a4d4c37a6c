from __future__ import annotations

import re
from pathlib import Path

import pytest

from pinfold.server.commands import demo


def test_the_demo_counts_what_is_left_in_each_text_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown: list[str] = []
    demo.play(shown.append, keep=False)
    text = "\n".join(shown)
    assert "a simple stand-in for a client's summarizer" in text
    assert re.findall(r"(\d of the decision's \d details left: .*)", text) == [
        "1 of the decision's 4 details left: Redis",
        "0 of the decision's 4 details left: none",
        "4 of the decision's 4 details left: Redis, 15 minutes, rotated, mobile client",
    ]
    assert list(tmp_path.iterdir()) == []


def test_the_demo_says_where_it_keeps_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown: list[str] = []
    demo.play(shown.append, keep=True)
    (folder,) = tmp_path.iterdir()
    assert shown[-1].endswith(f", kept in {folder}")
    assert len(list(folder.glob("home/projects/*/log.db"))) == 1
