from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pinfold.server.settings import Settings, default_home, read_settings
from pinfold.store.errors import InvalidInputError
from pinfold.store.values import MAX_ARTIFACT_BYTES
from tests.store.children import ended


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "app"
    made.mkdir()
    return made


def _read(folder: Path | None = None, **environment: str) -> Settings:
    return read_settings(environment, folder)


def test_without_a_word_the_users_folder_and_the_working_directory_are_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    found = _read()
    assert (found.home, found.project.root, found.roots) == (default_home(), folder, (folder,))
    assert found.max_artifact_bytes == MAX_ARTIFACT_BYTES
    assert found.store_folder == default_home() / "projects" / found.project.folder_name


def test_the_project_is_the_named_one_then_pinfolds_then_the_clients(folder: Path) -> None:
    places = {name: folder / name for name in ("named", "ours", "clients")}
    for place in places.values():
        place.mkdir()
    ours, clients = str(places["ours"]), str(places["clients"])
    assert _read(CLAUDE_PROJECT_DIR=clients).project.name == "clients"
    assert _read(CLAUDE_PROJECT_DIR=clients, PINFOLD_PROJECT=ours).project.name == "ours"
    named = _read(places["named"], CLAUDE_PROJECT_DIR=clients, PINFOLD_PROJECT=ours)
    assert named.project.name == "named"


def test_empty_values_are_as_good_as_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names = (
        "PINFOLD_HOME",
        "PINFOLD_ROOTS",
        "PINFOLD_PROJECT",
        "CLAUDE_PROJECT_DIR",
        "PINFOLD_MAX_ARTIFACT_BYTES",
        "PINFOLD_SPILL_TOKENS",
    )
    assert _read(None, **dict.fromkeys(names, "")) == _read()


def test_places_may_be_relative_or_begin_with_the_users_home(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = _read(PINFOLD_HOME="~/kept", PINFOLD_ROOTS=os.pathsep.join(["~/logs", "", "here"]))
    assert found.home == tmp_path / "kept"
    assert found.roots == (folder, tmp_path / "logs", folder / "here")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PINFOLD_PROJECT", "/nowhere/at/all"),
        ("PINFOLD_PROJECT", "~no-such-user-here/app"),
        ("PINFOLD_HOME", "~no-such-user-here"),
        ("PINFOLD_ROOTS", "~no-such-user-here"),
        *(
            ("PINFOLD_MAX_ARTIFACT_BYTES", text)
            for text in ("0", "-1", "1e6", "1 000", "٣", "many", "9" * 30)
        ),
        *(("PINFOLD_SPILL_TOKENS", text) for text in ("0", "-1", "6k", "6,000")),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name_and_not_quoted(
    folder: Path, name: str, text: str
) -> None:
    start = None if name == "PINFOLD_PROJECT" else folder
    with pytest.raises(InvalidInputError, match=name) as refused:
        _read(start, **{name: text})
    assert len(text) < 5 or text not in str(refused.value)


def test_the_largest_artifact_and_what_long_output_is_can_be_set(folder: Path) -> None:
    found = _read(folder, PINFOLD_MAX_ARTIFACT_BYTES="1000", PINFOLD_SPILL_TOKENS="250")
    assert (found.max_artifact_bytes, found.spill_tokens) == (1_000, 250)
    assert _read(folder).spill_tokens == 6_000


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
def test_a_working_directory_that_was_removed_is_still_where_it_was(folder: Path) -> None:
    script = (
        "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]);"
        " from pinfold.server.settings import read_settings;"
        " print(read_settings({'PWD': sys.argv[1]}).project.root)"
    )
    outcome = ended(script, folder)
    assert outcome.stdout.strip() == str(folder), outcome.stderr
