"""Where npm or its registry is out of reach, that is said; nothing else passes for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.clients import programs

pytestmark = pytest.mark.clients


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "FOLDER", tmp_path / "clients")


def test_missing_npm_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(programs.OutOfReachError, match="npm is not on the PATH"):
        programs.install()


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on the PATH")
def test_unreachable_registry_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    with pytest.raises(programs.OutOfReachError, match="ECONNREFUSED"):
        programs.install()
