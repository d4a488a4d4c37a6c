"""Hooks and servers agree on the project, from wherever the client calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinfold.server.settings import read_settings
from tests.server.hooking import Client
from tests.server.repositories import git, make_repository


def stores(client: Client) -> list[Path]:
    return sorted((client.home / "projects").iterdir())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "app")


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_worktree_a_subfolder_and_a_link_are_the_project_of_the_server(
    repository: Path, piped: bool, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    client = Client(repository.parent, name, piped=piped)
    (repository / "src" / "deep").mkdir(parents=True)
    git(repository, "worktree", "add", "--quiet", str(client.folder / "tree"))
    (client.folder / "link").symlink_to(repository)
    for folder in ("app/src/deep", "tree", "link", "link/src", "app/"):
        client.project = client.folder / folder
        client.hook("user-prompt-submit", prompt=f"FACT: said in {folder}", cwd=str(client.project))
        server = {"PINFOLD_HOME": str(client.home)}
        if name == "claude":
            server["CLAUDE_PROJECT_DIR"] = str(client.project)
        monkeypatch.chdir(client.project)
        assert stores(client) == [read_settings(server).store_folder]
    assert len(client.pins()) == 5


def test_a_folder_without_git_is_the_one_that_the_client_was_started_in(claude: Client) -> None:
    deep = claude.project / "src" / "deep"
    deep.mkdir(parents=True)
    for cwd in (claude.project, deep):
        claude.hook("user-prompt-submit", prompt=f"FACT: said in {cwd.name}", cwd=str(cwd))
    assert stores(claude) == [claude.store_folder]
    assert len(claude.pins()) == 2


def test_a_folder_without_git_is_the_one_that_codex_works_in(
    codex: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex.hook("user-prompt-submit", prompt="FACT: one", cwd=str(codex.project))
    monkeypatch.chdir(codex.project)
    assert stores(codex) == [read_settings({"PINFOLD_HOME": str(codex.home)}).store_folder]


def test_a_codex_that_claude_code_runs_elsewhere_is_in_its_own_project(
    codex: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(codex.folder))
    codex.hook("user-prompt-submit", prompt="FACT: one", cwd=str(codex.project))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR")
    assert stores(codex) == [codex.store_folder]


def test_a_worktree_that_is_gone_still_is_its_projects(claude: Client) -> None:
    claude.project.rmdir()
    make_repository(claude.project)
    tree = claude.project / "trees" / "gone"
    git(claude.project, "worktree", "add", "--quiet", str(tree))
    claude.hook("user-prompt-submit", prompt="FACT: one")
    git(claude.project, "worktree", "remove", str(tree))
    home, claude.project = claude.project, tree
    claude.piped = False  # no process can begin in a folder that is gone
    claude.hook("user-prompt-submit", prompt="FACT: two", cwd=str(tree))
    claude.project = home
    assert stores(claude) == [claude.store_folder]
    assert [pin.text for pin in claude.pins()] == ["one", "two"]


def test_the_chosen_home_and_project_win(claude: Client) -> None:
    other = claude.folder / "other"
    other.mkdir()
    variables = {"PINFOLD_PROJECT": str(other)}
    claude.hook("user-prompt-submit", prompt="FACT: elsewhere", variables=variables)
    assert stores(claude) == [read_settings({"PINFOLD_HOME": str(claude.home)}, other).store_folder]
    given = b'{"session_id": "s", "prompt": "FACT: at home"}'
    done = claude.run("user-prompt-submit", given, "--home", str(claude.folder / "elsewhere"))
    assert done.stdout == b"pinfold: pinned from the prompt: P1\n"
    assert (claude.folder / "elsewhere" / "projects").is_dir()
