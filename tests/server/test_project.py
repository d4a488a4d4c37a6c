from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pinfold.server.project import resolve
from tests.server.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop")


def test_every_way_into_a_repository_is_one_project(repository: Path, tmp_path: Path) -> None:
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(repository)
    ways = [
        repository,
        deep,
        repository / ".git",
        repository / ".git" / "hooks",
        Path(f"{repository}/"),
        Path(f"{repository}/src/../src//deep/."),
        link,
        link / "src",
        Path(os.path.relpath(repository)),
    ]
    found = {(resolve(way).identity, resolve(way).folder_name, resolve(way).name) for way in ways}
    assert len(found) == 1
    assert resolve(deep).name == "shop"
    assert resolve(deep).root == repository


def test_worktrees_and_folders_in_them_share_the_project_and_have_their_own_root(
    repository: Path, tmp_path: Path
) -> None:
    worktree = tmp_path / "elsewhere" / "fix"
    git(repository, "worktree", "add", "--quiet", str(worktree))
    (worktree / "src").mkdir()
    found = resolve(worktree / "src")
    assert found.identity == resolve(repository).identity
    assert (found.name, found.root) == ("shop", worktree)
    assert found.common_folder == repository / ".git"
    assert found.git_folder == repository / ".git" / "worktrees" / "fix"


def test_a_removed_worktree_takes_nothing_with_it(repository: Path, tmp_path: Path) -> None:
    inside, beside = repository / "trees" / "one", tmp_path / "two"
    for worktree in (inside, beside):
        git(repository, "worktree", "add", "--quiet", str(worktree))
    kept = resolve(repository)
    assert {resolve(inside).folder_name, resolve(beside).folder_name} == {kept.folder_name}
    shutil.rmtree(inside)
    assert resolve(inside).folder_name == kept.folder_name  # a process may still think that it is there
    shutil.rmtree(repository / ".git" / "worktrees")
    assert resolve(beside).folder_name == kept.folder_name  # pruned, while its folder stayed
    git(repository, "worktree", "prune")
    assert resolve(repository).folder_name == kept.folder_name


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    git(repository, "submodule", "--quiet", "add", str(library), "parts/library")
    found = resolve(repository / "parts" / "library")
    assert found.identity not in (resolve(repository).identity, resolve(library).identity)
    assert (found.name, found.root) == ("library", repository / "parts" / "library")


def test_a_bare_repository_and_its_worktrees_are_one_project(repository: Path, tmp_path: Path) -> None:
    bare, plain = tmp_path / "shop.git", tmp_path / "hub"
    for folder in (bare, plain):
        git(tmp_path, "clone", "--quiet", "--bare", str(repository), str(folder))
    worktree = tmp_path / "work"
    git(bare, "worktree", "add", "--quiet", str(worktree))
    assert {resolve(way).identity for way in (bare, bare / "refs", worktree)} == {str(bare)}
    assert (resolve(worktree).name, resolve(plain / "refs").name) == ("shop", "hub")
    assert resolve(plain / "refs").identity == resolve(plain).identity


def test_a_hidden_bare_repository_has_the_name_of_its_folder(repository: Path, tmp_path: Path) -> None:
    home = tmp_path / "store-front"
    home.mkdir()
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), str(home / ".bare"))
    (home / ".git").write_text("gitdir: ./.bare\n")
    git(home, "worktree", "add", "--quiet", "main-tree", "main")
    assert resolve(home).name == "store-front"
    assert resolve(home / "main-tree").identity == resolve(home).identity


def test_folders_of_equal_name_are_two_projects(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "app", tmp_path / "b" / "app"
    one.mkdir(parents=True)
    make_repository(two)
    assert resolve(one).name == resolve(two).name == "app"
    assert resolve(one).folder_name != resolve(two).folder_name


def test_without_git_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert resolve(link).identity == resolve(Path(f"{folder}/")).identity == str(folder)
    assert resolve(folder / "sub").identity != resolve(folder).identity
    assert (resolve(folder).git_folder, resolve(folder).root) == (None, folder)


@pytest.mark.parametrize(
    "content",
    [b"gitdir: /nowhere/at/all", b"gitdir:", b"nonsense", b"", b"gitdir: a\0b", b"gitdir: \xff\xfe"],
)
def test_a_broken_git_file_makes_a_plain_folder(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / ".git").write_bytes(content)
    assert resolve(folder).identity in (str(folder), str(tmp_path))


def test_a_git_directory_that_is_none_is_passed_over(repository: Path) -> None:
    inner = repository / "inner"
    (inner / ".git").mkdir(parents=True)
    assert resolve(inner).identity == resolve(repository).identity


def test_letter_case_is_folded_where_the_filesystem_folds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spellings = [tmp_path / name for name in ("Shop-Straße", "shop-straße", "SHOP-STRAßE")]
    for spelling in spellings:
        spelling.mkdir()
    assert len({resolve(spelling).identity for spelling in spellings}) == 3

    def folding(one: str, other: str) -> bool:
        return one.casefold() == other.casefold()

    monkeypatch.setattr(os.path, "samefile", folding)
    assert len({resolve(spelling).identity for spelling in spellings}) == 1
    assert len({resolve(spelling).folder_name for spelling in spellings}) == 1


@pytest.mark.parametrize("name", ["..", "a b/c", "日本語のフォルダ" * 6, "-", "x" * 200, "emoji 🙂", "a\nb"])
def test_a_store_folder_has_a_name_that_every_filesystem_takes(tmp_path: Path, name: str) -> None:
    made = resolve(tmp_path / name).folder_name
    assert "/" not in made
    assert "\n" not in made
    assert len(made.encode()) <= 255
    assert not made.startswith((".", "-"))
    (tmp_path / "home" / made).mkdir(parents=True)


def test_the_root_folder_has_a_name_too() -> None:
    assert resolve(Path("/")).name == "root"
