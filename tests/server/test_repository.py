from __future__ import annotations

import os
from pathlib import Path

import pytest

from pinfold.server.project import resolve
from pinfold.server.repository import head_of
from tests.server.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop")


def _commit(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")


def test_a_loose_head_and_a_packed_one_are_read(repository: Path) -> None:
    git(repository, "switch", "--quiet", "--create", "feature/over/there")
    expected = (_commit(repository), "feature/over/there")
    assert head_of(resolve(repository)) == expected
    git(repository, "tag", "--annotate", "--message=one", "v1")
    git(repository, "pack-refs", "--all", "--prune")
    assert not (repository / ".git" / "refs" / "heads" / "feature" / "over" / "there").exists()
    assert head_of(resolve(repository)) == expected


def test_a_loose_head_is_newer_than_a_packed_one(repository: Path) -> None:
    git(repository, "pack-refs", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message=second")
    assert head_of(resolve(repository)) == (_commit(repository), "main")


def test_a_detached_head_has_no_branch(repository: Path) -> None:
    git(repository, "switch", "--quiet", "--detach")
    assert head_of(resolve(repository)) == (_commit(repository), None)


def test_an_unborn_branch_has_no_commit(tmp_path: Path) -> None:
    assert head_of(resolve(make_repository(tmp_path / "new", commit=False))) == (None, "main")


def test_a_worktree_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    worktree = tmp_path / "fix"
    git(repository, "worktree", "add", "--quiet", str(worktree))
    git(worktree, "commit", "--quiet", "--allow-empty", "--message=second")
    assert head_of(resolve(worktree)) == (_commit(worktree), "fix")
    assert head_of(resolve(repository)) == (_commit(repository), "main")
    assert _commit(worktree) != _commit(repository)
    git(repository, "pack-refs", "--all", "--prune")
    assert head_of(resolve(worktree)) == (_commit(worktree), "fix")


def test_the_head_is_read_anew_each_time(repository: Path) -> None:
    project = resolve(repository)
    before = head_of(project)
    git(repository, "commit", "--quiet", "--allow-empty", "--message=second")
    git(repository, "switch", "--quiet", "--create", "next")
    assert head_of(project) == (_commit(repository), "next")
    assert head_of(project) != before


def test_a_commit_of_64_digits_is_one_too(tmp_path: Path) -> None:
    folder = tmp_path / "long"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=first")
    commit, branch = head_of(resolve(folder))
    assert (commit, branch, len(commit or "")) == (_commit(folder), "main", 64)


def test_without_git_there_is_no_head(tmp_path: Path) -> None:
    assert head_of(resolve(tmp_path)) == (None, None)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", (None, None)),
        (b"nonsense", (None, None)),
        (b"\xff\xfe", (None, None)),
        (b"ref: refs/heads/.invalid\n", (None, None)),
        (b"ref: refs/heads/gone\n", (None, "gone")),
        (b"ref: ../../../etc/hostname\n", (None, "../../../etc/hostname")),
        (b"ref: refs/heads/a\0b\n", (None, "a\0b")),
    ],
)
def test_a_head_that_leads_nowhere_is_no_error(
    repository: Path, head: bytes, expected: tuple[str | None, str | None]
) -> None:
    (repository / ".git" / "HEAD").write_bytes(head)
    assert head_of(resolve(repository)) == expected


@pytest.mark.timeout(10)
def test_a_head_that_leads_to_a_pipe_is_not_waited_for(repository: Path) -> None:
    os.mkfifo(repository / ".git" / "refs" / "heads" / "pipe")
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/pipe\n")
    assert head_of(resolve(repository)) == (None, "pipe")
