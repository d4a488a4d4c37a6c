from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from backports import zstd

from pinfold.server.project import resolve
from pinfold.server.transcripts.finding import Found, found_at, of_agents, of_conversation, of_project
from tests.server.repositories import git, make_repository
from tests.server.transcript_samples import (
    ALL,
    CLAUDE,
    CLAUDE_AGENT,
    CLAUDE_HOME,
    CODEX,
    CODEX_AGENT,
    CODEX_HOME,
)

SAMPLES = {"CLAUDE_CONFIG_DIR": str(CLAUDE_HOME), "CODEX_HOME": str(CODEX_HOME)}


class Home:
    """The folders of a user's two clients; each conversation is a line that says where it began."""

    def __init__(self, root: Path) -> None:
        self.environment: Mapping[str, str] = {
            "CLAUDE_CONFIG_DIR": str(root / "claude"),
            "CODEX_HOME": str(root / "codex"),
        }
        self._claude, self._codex = root / "claude" / "projects", root / "codex"
        self._count = 0

    def claude(self, cwd: Path | str, name: str = "some-folder") -> Path:
        session = self._next()
        line = {
            "type": "user",
            "uuid": "u",
            "sessionId": session,
            "cwd": str(cwd),
            "message": {"content": "Hi."},
        }
        return self._write(self._claude / name / f"{session}.jsonl", line)

    def codex(self, cwd: Path | str, folder: str = "sessions/2026/11/30") -> Path:
        thread = self._next()
        line = {"type": "session_meta", "payload": {"id": thread, "cwd": str(cwd)}}
        return self._write(self._codex / folder / f"rollout-2026-11-30T01-31-34-{thread}.jsonl", line)

    def _next(self) -> str:
        self._count += 1
        return f"01a22a14-2b0d-70d2-9aa6-{self._count:012d}"

    def _write(self, path: Path, line: object) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(line) + "\n")
        os.utime(path, (self._count, self._count))
        return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop")


def paths(found: tuple[Found, ...]) -> list[Path]:
    return [transcript.path for transcript in found]


def test_a_project_has_the_transcripts_of_its_worktrees_subfolders_and_spellings(
    shop: Path, home: Home, tmp_path: Path
) -> None:
    worktree, link = tmp_path / "fix", tmp_path / "link"
    git(shop, "worktree", "add", "--quiet", str(worktree))
    link.symlink_to(shop)
    (shop / "src").mkdir()
    ways: list[Path | str] = [shop, shop / "src", f"{shop}/", f"{shop}/src/..", link / "src", worktree]
    expected = [write(way) for way in ways for write in (home.claude, home.codex)]
    home.claude(make_repository(tmp_path / "other" / "shop"))
    home.codex(tmp_path)
    for project in (shop, worktree):
        assert paths(of_project(resolve(project), home.environment)) == expected


def test_a_folder_that_is_gone_still_belongs_to_its_project(shop: Path, home: Home, tmp_path: Path) -> None:
    inside, beside = shop / "trees" / "one", tmp_path / "two"
    git(shop, "worktree", "add", "--quiet", str(inside))
    git(shop, "worktree", "add", "--quiet", str(beside))
    expected = [home.claude(inside), home.codex(beside), home.claude(shop / "was" / "here")]
    home.claude(tmp_path / "shop-2")
    shutil.rmtree(inside)
    shutil.rmtree(beside)
    assert paths(of_project(resolve(shop), home.environment)) == expected


def test_a_project_without_git_has_its_own_folder_and_what_is_gone_below_it(
    home: Home, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    (plain / "kept").mkdir(parents=True)
    expected = [home.claude(plain), home.codex(plain / "gone")]
    home.claude(plain / "kept")  # a project of its own, as the resolver has it
    assert paths(of_project(resolve(plain), home.environment)) == expected


def test_archived_and_packed_rollouts_count_once(shop: Path, home: Home) -> None:
    archived = home.codex(shop, "archived_sessions")
    packed = home.codex(shop)
    packed_path = packed.with_name(f"{packed.name}.zst")
    packed_path.write_bytes(zstd.compress(packed.read_bytes()))
    assert paths(of_project(resolve(shop), home.environment)) == [archived, packed]
    packed.unlink()
    assert set(paths(of_project(resolve(shop), home.environment))) == {archived, packed_path}


def test_files_that_are_no_transcripts_or_cannot_be_read_are_passed_over(shop: Path, home: Home) -> None:
    good = home.claude(shop)
    good.with_name("empty.jsonl").touch()
    good.with_name("noise.jsonl").write_bytes(b"\0\xff" * 100)
    good.with_name("folder.jsonl").mkdir()
    good.with_name("odd.jsonl").write_text('{"sessionId":5,"cwd":"\\u0000"}\n{"cwd":["a"]}\n')
    assert paths(of_project(resolve(shop), home.environment)) == [good]
    assert of_project(resolve(shop), {"CLAUDE_CONFIG_DIR": "/nowhere", "CODEX_HOME": "/nowhere"}) == ()


def test_a_pipe_among_the_transcripts_is_passed_over(shop: Path, home: Home) -> None:
    ours = home.claude(shop)
    os.mkfifo(ours.with_name("00000000-0000-0000-0000-000000000000.jsonl"))
    assert [found.path for found in of_project(resolve(shop), home.environment)] == [ours]


def test_a_conversation_is_found_by_its_id() -> None:
    for client, path in (("claude-code", CLAUDE), ("codex", CODEX)):
        wanted = found_at(path)
        assert wanted is not None
        assert wanted.heading.conversation is not None
        assert of_conversation(client, wanted.heading.conversation, SAMPLES) == wanted
    for conversation in ("", "../secret", "01a22a14-0000-0000-0000-000000000000"):
        assert of_conversation("claude-code", conversation, SAMPLES) is None
        assert of_conversation("codex", conversation, SAMPLES) is None
    assert of_conversation("cursor", "01a22a14-0000-0000-0000-000000000000", SAMPLES) is None


def test_sub_agents_are_found_from_their_parent_and_know_it() -> None:
    parent = found_at(CLAUDE)
    assert parent is not None
    (agent,) = of_agents(parent)
    assert (agent.path, agent.heading.parent) == (CLAUDE_AGENT, parent.heading.conversation)
    agents = [found for found in of_project(resolve(Path("/home/anna/shop")), SAMPLES) if found.heading.agent]
    assert {found.path for found in agents} == {CLAUDE_AGENT, CODEX_AGENT}


def test_whose_a_file_is_shows_at_its_beginning(tmp_path: Path) -> None:
    copies = [tmp_path / f"{number}.jsonl" for number in range(len(ALL))]
    for copy, sample in zip(copies, ALL, strict=True):
        shutil.copy(sample, copy)
    clients = [found.client for copy in copies if (found := found_at(copy))]
    assert clients == ["claude-code"] * 5 + ["codex"] * 5
    copies[0].write_text('{"text":"Hi."}\n')
    other = found_at(copies[0])
    assert other is not None
    assert other.client == "jsonl"
    copies[0].write_text("no transcript\n")
    assert found_at(copies[0]) is None
